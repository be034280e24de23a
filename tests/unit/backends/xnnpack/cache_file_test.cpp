// The file of packed weights: what it gives back, and that nothing damaged, foreign or stale is ever used.
#include "backends/xnnpack/cache_file.h"

#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <thread>

#include <catch2/catch_test_macros.hpp>

#include "backends/xnnpack/weight_keys.h"
#include "support/temporary_file.h"

using namespace pterun;
using namespace pterun::backends::xnn;

namespace {

const CacheIdentity kHere{"program-hash-16b", "2024-11-08 build 1", "avx2 fma3"};

std::vector<std::byte> pattern(std::size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(seed));
  return bytes;
}

struct Sample {
  std::vector<std::byte> first = pattern(1000, 1);
  std::vector<std::byte> second = pattern(64, 2);
  std::vector<CacheEntry> entries() const {
    return {{"key one", first, {}, {"forward", "encode"}}, {"key two", second, {}, {"encode"}}};
  }
};

std::uint64_t write(const std::string& path, const CacheIdentity& identity = kHere) {
  const Sample sample;
  auto writer = CacheWriter::begin(path);
  REQUIRE(writer);
  const auto bytes = writer->commit(identity, sample.entries());
  REQUIRE(bytes);
  return *bytes;
}

std::string rejection(const TemporaryFile& file, bool verify = false, const CacheIdentity& identity = kHere) {
  const auto opened = CacheFile::open(file.path(), identity, verify);
  if (opened) return "";
  CHECK(opened.error().code == ErrorCode::kInvalidExternalData);
  return opened.error().message;
}

// The header's checksum, made right again after a change that is to be noticed by something else.
std::string sealed(std::string content) {
  std::uint64_t index_bytes;
  std::memcpy(&index_bytes, content.data() + 32, sizeof index_bytes);
  const auto bytes = std::as_bytes(std::span(content));
  const std::string both = fingerprint(bytes.first(48)) + fingerprint(bytes.subspan(64, index_bytes));
  content.replace(48, 16, fingerprint(std::as_bytes(std::span(both))));
  return content;
}

}  // namespace

TEST_CASE("weights come back in place, aligned, with the methods that use them") {
  const TemporaryFile file("w.cache");
  const std::uint64_t bytes = write(file.path());
  CHECK(std::filesystem::file_size(file.path()) == bytes);
  const auto opened = CacheFile::open(file.path(), kHere, true);
  REQUIRE(opened);
  const Sample sample;
  REQUIRE((*opened)->entries().size() == 2);
  const CacheEntry* first = (*opened)->find("key one");
  REQUIRE(first != nullptr);
  CHECK(std::vector(first->weights.begin(), first->weights.end()) == sample.first);
  CHECK(first->methods == std::vector<std::string_view>{"forward", "encode"});
  const CacheEntry* second = (*opened)->find("key two");
  REQUIRE(second != nullptr);
  CHECK(std::vector(second->weights.begin(), second->weights.end()) == sample.second);
  CHECK(second->methods == std::vector<std::string_view>{"encode"});
  CHECK((*opened)->find("key three") == nullptr);
  for (const CacheEntry& entry : (*opened)->entries())
    CHECK(reinterpret_cast<std::uintptr_t>(entry.weights.data()) % 64 == 0);
}

TEST_CASE("the same weights make the same file, which only its owner may read") {
  const TemporaryFile file("w.cache");
  write(file.path());
  const std::string before = file.read();
  write(file.path());
  CHECK((file.read() == before));
  CHECK_FALSE(std::filesystem::exists(file.path() + ".tmp"));
  struct stat status{};
  REQUIRE(::stat(file.path().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("no file is not an error of the file") {
  const TemporaryFile file("w.cache");
  CHECK(CacheFile::open(file.path(), kHere, false).error().code == ErrorCode::kNotFound);
  CHECK(CacheFile::open(file.folder(), kHere, false).error().code == ErrorCode::kAccessFailed);
}

TEST_CASE("every changed byte of header and index is noticed, of the weights when asked for") {
  const TemporaryFile file("w.cache");
  write(file.path());
  const std::string good = file.read();
  std::uint64_t index_bytes;
  std::memcpy(&index_bytes, good.data() + 32, sizeof index_bytes);
  const std::size_t head = 64 + index_bytes;
  for (std::size_t i = 0; i < head; ++i) {
    for (const char bit : {'\x01', '\x80'}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ bit);
      file.write(bad);
      INFO(i);
      CHECK(rejection(file) != "");
    }
  }
  std::string bad = good;
  bad.back() = static_cast<char>(bad.back() ^ 1);
  file.write(bad);
  CHECK(rejection(file) == "");
  CHECK(rejection(file, true).find("damaged (checksum)") != std::string::npos);
}

TEST_CASE("a file that is cut or has grown is refused, at any length") {
  const TemporaryFile file("w.cache");
  write(file.path());
  const std::string good = file.read();
  for (std::size_t length = 0; length < good.size(); length += length < 400 ? 1 : 97) {
    file.write(good.substr(0, length));
    INFO(length);
    CHECK(rejection(file) != "");
  }
  file.write(good + "x");
  CHECK(rejection(file).find("it has ") == 0);
  file.write(std::string(1000, 'x'));
  CHECK(rejection(file) == "it is no weight cache of pterun");
}

TEST_CASE("says why a file of another version, library, processor or program is refused") {
  const TemporaryFile file("w.cache");
  write(file.path());
  std::string newer = file.read();
  newer[8] = 2;
  file.write(sealed(newer));
  CHECK(rejection(file) == "it has format version 2, this build reads version 1");
  write(file.path(), {kHere.program, "2030-01-01 build 2", kHere.cpu});
  CHECK(rejection(file) == "it was made by XNNPACK '2030-01-01 build 2', here it is '2024-11-08 build 1'");
  write(file.path(), {kHere.program, kHere.library, "avx512f"});
  CHECK(rejection(file) == "it was made on a processor with 'avx512f', here it is 'avx2 fma3'");
  write(file.path(), {"another program!", kHere.library, kHere.cpu});
  CHECK(rejection(file).find("it belongs to another program") == 0);
}

TEST_CASE("an index that leads out of the file is refused though its checksum is right") {
  const TemporaryFile file("w.cache");
  write(file.path());
  const std::string good = file.read();
  const std::size_t key = good.find("key one");
  REQUIRE(key != std::string::npos);
  const auto with = [&](std::size_t offset, std::uint64_t number) {
    std::string bad = good;
    bad.replace(offset, sizeof number, std::string(reinterpret_cast<const char*>(&number), sizeof number));
    return sealed(bad);
  };
  const std::size_t at = key + 7;
  for (const std::string& bad : {with(at, UINT64_MAX - 63), with(at, 1 << 20), with(at, 65), with(at + 8, UINT64_MAX),
                                 with(at + 8, good.size()), with(at + 8 + 8 + 16, UINT64_MAX)}) {
    file.write(bad);
    CHECK(rejection(file) == "its index makes no sense");
  }
  std::string twice = good;
  twice.replace(twice.find("key two"), 7, "key one");
  file.write(sealed(twice));
  CHECK(rejection(file) == "its index has one key twice");
}

TEST_CASE("one writer at a time; a file in use stays what it was") {
  const TemporaryFile file("w.cache");
  write(file.path());
  const auto opened = CacheFile::open(file.path(), kHere, true);
  REQUIRE(opened);
  const std::string before(reinterpret_cast<const char*>((*opened)->entries()[0].weights.data()), 1000);
  auto writer = CacheWriter::begin(file.path());
  REQUIRE(writer);
  const auto second = CacheWriter::begin(file.path());
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::kInvalidState);
  const auto other = pattern(5000, 9);
  REQUIRE(writer->commit(kHere, {{"other", other, {}, {"forward"}}}));
  CHECK(std::string(reinterpret_cast<const char*>((*opened)->entries()[0].weights.data()), 1000) == before);
  // Not even before the writer is gone can another one get at the file that was renamed.
  auto third = CacheWriter::begin(file.path());
  CHECK(third);
  CHECK(CacheFile::open(file.path(), kHere, true));
}

TEST_CASE("writers that get in each other's way leave a whole file") {
  const TemporaryFile file("w.cache");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto weights = pattern(20000, t);
      for (int i = 0; i < 25; ++i) {
        auto writer = CacheWriter::begin(file.path());
        if (writer) (void)writer->commit(kHere, {{"key", weights, {}, {"forward"}}});
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  CHECK(CacheFile::open(file.path(), kHere, true));
  CHECK_FALSE(std::filesystem::exists(file.path() + ".tmp"));
}

TEST_CASE("what an interrupted writer left behind is taken over") {
  const TemporaryFile file("w.cache");
  {
    std::ofstream(file.path() + ".tmp") << std::string(100000, 'x');
  }
  write(file.path());
  CHECK(rejection(file, true) == "");
  CHECK_FALSE(std::filesystem::exists(file.path() + ".tmp"));
}

TEST_CASE("a file that cannot be written is an error that names it, and leaves the old one") {
  const TemporaryFile file("w.cache");
  const auto nowhere = CacheWriter::begin(file.folder() + "/none/w.cache");
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().message.find("none/w.cache': No such file or directory") != std::string::npos);
  // The path is a folder: the temporary file can be written, but not put in place.
  const std::string folder = file.folder() + "/folder";
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/in it") << "x";
  auto writer = CacheWriter::begin(folder);
  REQUIRE(writer);
  CHECK_FALSE(writer->commit(kHere, {}));
}

TEST_CASE("programs, data files and archives are not replaced, whatever was typed") {
  for (const std::string& head : {std::string("\x1c\0\0\0ET12xxxx", 12), std::string("\x1c\0\0\0FT01xxxx", 12),
                                  std::string("\x1c\0\0\0BP08xxxx", 12), std::string("PK\x03\x04xxxxxxxx", 12)}) {
    const TemporaryFile file("m.pte");
    file.write(head);
    const auto writer = CacheWriter::begin(file.path());
    REQUIRE_FALSE(writer);
    CHECK(writer.error().code == ErrorCode::kAccessFailed);
    CHECK(file.read() == head);
    CHECK_FALSE(std::filesystem::exists(file.path() + ".tmp"));
  }
}
