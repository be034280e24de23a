// SHA-256 against the standard's examples.
#include "base/sha256.h"

#include <catch2/catch_test_macros.hpp>

#include "support/temporary_file.h"

using namespace pterun;

namespace {

std::string hash(const std::string& text) {
  return sha256_hex(std::as_bytes(std::span(text)));
}

}  // namespace

TEST_CASE("sha256 gives the standard's answers") {
  CHECK(hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hash(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256 does not depend on how the bytes are cut") {
  const std::string text(300, 'x');
  for (std::size_t cut = 0; cut <= text.size(); cut += 7) {
    Sha256 hash_of_two;
    hash_of_two.update(std::as_bytes(std::span(text)).first(cut));
    hash_of_two.update(std::as_bytes(std::span(text)).subspan(cut));
    CHECK(hash_of_two.hex_digest() == hash(text));
  }
}

TEST_CASE("sha256 of a file is that of its bytes, whatever the length") {
  for (const std::size_t length : {std::size_t{1}, std::size_t{262144}, std::size_t{262145}}) {
    const std::string content(length, 'y');
    const TemporaryFile file("x", content);
    CHECK(*sha256_of_file(file.path()) == hash(content));
  }
}

TEST_CASE("sha256 of a missing file or a directory is an error") {
  CHECK(sha256_of_file("/nonexistent/x").error().code == ErrorCode::kAccessFailed);
  CHECK_FALSE(sha256_of_file("/"));
}
