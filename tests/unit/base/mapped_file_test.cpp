// Mapping files, what cannot be mapped, and advice about pages.
#include "base/mapped_file.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <catch2/catch_test_macros.hpp>

#include "support/temporary_file.h"

using namespace pterun;

namespace {

std::string text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void check_refused(const std::string& path, const std::string& reason) {
  const auto file = MappedFile::open(path);
  REQUIRE_FALSE(file);
  CHECK(file.error().code == ErrorCode::kAccessFailed);
  CHECK(file.error().blame == Blame::kProgram);
  CHECK(file.error().where.at("file") == path);
  CHECK(file.error().message.find("cannot open '" + path + "': ") == 0);
  CHECK(file.error().message.find(reason) != std::string::npos);
}

}  // namespace

TEST_CASE("a mapped file holds the file's bytes") {
  const TemporaryFile temporary("a.bin", "hello");
  const auto file = MappedFile::open(temporary.path());
  REQUIRE(file);
  CHECK(file->path() == temporary.path());
  CHECK(text_of(file->bytes()) == "hello");
}

TEST_CASE("a page of zeros follows the bytes, also when the file fills its last page") {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const TemporaryFile temporary("a.bin", std::string(page, 'x'));
  const auto file = MappedFile::open(temporary.path());
  REQUIRE(file);
  const std::byte* const end = file->bytes().data() + file->bytes().size();
  CHECK(std::all_of(end, end + page, [](std::byte b) { return b == std::byte{0}; }));
}

TEST_CASE("an empty file maps to no bytes") {
  const TemporaryFile temporary("a.bin", "");
  const auto file = MappedFile::open(temporary.path());
  REQUIRE(file);
  CHECK(file->bytes().empty());
  file->release_pages(file->bytes());
}

TEST_CASE("what is no regular file is refused with the reason") {
  const TemporaryFile temporary("a.bin");
  check_refused(temporary.path(), "No such file");
  check_refused(temporary.folder(), "it is a directory, not a file");
  REQUIRE(::mkfifo(temporary.path().c_str(), 0600) == 0);
  check_refused(temporary.path(), "it is not a regular file");  // and does not wait for a writer
}

TEST_CASE("moving hands the mapping on") {
  const TemporaryFile temporary("a.bin", "hello");
  auto file = MappedFile::open(temporary.path());
  REQUIRE(file);
  const std::byte* const data = file->bytes().data();
  MappedFile moved = *std::move(file);
  CHECK(moved.bytes().data() == data);
  MappedFile assigned;
  assigned = std::move(moved);
  CHECK(text_of(assigned.bytes()) == "hello");
}

TEST_CASE("released pages are read back from the file, and ranges elsewhere are ignored") {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::string content(3 * page, 'a');
  content[page] = 'b';
  const TemporaryFile temporary("a.bin", content);
  const auto file = MappedFile::open(temporary.path());
  REQUIRE(file);
  file->will_need(file->bytes());
  file->release_pages(file->bytes());
  CHECK(text_of(file->bytes()) == content);
  std::string elsewhere(4 * page, 'c');
  file->release_pages(std::as_bytes(std::span(elsewhere)));
  CHECK(elsewhere == std::string(4 * page, 'c'));
}

TEST_CASE("a part of a page is not released with its neighbours") {
  const TemporaryFile temporary("a.bin", "hello");
  const auto file = MappedFile::open(temporary.path());
  REQUIRE(file);
  file->release_pages(file->bytes().first(2));
  CHECK(text_of(file->bytes()) == "hello");
}
