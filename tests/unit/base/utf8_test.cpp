// UTF-8 checks and quoting of text that may be hostile.
#include "base/utf8.h"

#include <catch2/catch_test_macros.hpp>

using namespace pterun;

TEST_CASE("accepts well-formed UTF-8 of one to four bytes") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("plain"));
  CHECK(is_utf8("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
}

TEST_CASE("refuses bytes that are not UTF-8") {
  CHECK_FALSE(is_utf8("\x80"));
  CHECK_FALSE(is_utf8("a\xff"));
  CHECK_FALSE(is_utf8("\xc3"));              // cut
  CHECK_FALSE(is_utf8("\xc0\xaf"));          // overlong
  CHECK_FALSE(is_utf8("\xe0\x9f\xbf"));      // overlong
  CHECK_FALSE(is_utf8("\xed\xa0\x80"));      // surrogate
  CHECK_FALSE(is_utf8("\xf4\x90\x80\x80"));  // above U+10FFFF
  CHECK_FALSE(is_utf8("\xe2\x28\xa1"));
  CHECK(find_invalid_utf8("ab\xff") == 2);
}

TEST_CASE("control characters are not printable") {
  CHECK(is_printable("aten::add.out"));
  CHECK_FALSE(is_printable("a\nb"));
  CHECK_FALSE(is_printable("\x1b[31m"));
  CHECK_FALSE(is_printable("\x7f"));
  CHECK_FALSE(is_printable("\xc2\x9b"));
  CHECK_FALSE(is_printable("\xff"));
  CHECK_FALSE(is_printable(std::string_view("a\0b", 3)));
}

TEST_CASE("quotes hostile text harmlessly and cuts it") {
  CHECK(in_quotes("forward") == "'forward'");
  CHECK(in_quotes("a\x1b[31m\xff") == "'a\\x1B[31m\\xFF'");
  CHECK(in_quotes("caf\xc3\xa9") == "'caf\xc3\xa9'");
  CHECK(in_quotes(std::string(1000, 'x'), 10) == "'xxxxxxxxxx... (1000 bytes)'");
}
