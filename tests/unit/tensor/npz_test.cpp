// .npz archives: order, keys, both compressions, and everything a hostile archive may claim.
#include "tensor/io/npz.h"

#include <cstring>

#include <catch2/catch_test_macros.hpp>
#include <zip.h>

#include "support/temporary_file.h"
#include "tensor/io/npy.h"

using namespace pterun;

namespace {

struct MemberText {
  std::string name;
  std::string content;
  bool deflate = false;
};

// Any archive, also one that no program would write.
void write_archive(const std::string& path, const std::vector<MemberText>& members) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  REQUIRE(archive != nullptr);
  for (const MemberText& member : members) {
    zip_source_t* source = zip_source_buffer(archive, member.content.data(), member.content.size(), 0);
    const zip_int64_t index = zip_file_add(archive, member.name.c_str(), source, 0);
    REQUIRE(index >= 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), member.deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE,
                             0);
  }
  REQUIRE(zip_close(archive) == 0);
}

std::string array(const Shape& shape, const std::string& elements) {
  return *io::npy_header_text(DType::kUInt8, shape, "") + elements;
}

std::string message(const Result<std::vector<io::NamedTensor>>& result) {
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::kInput);
  CHECK(exit_code(result.error()) == 4);
  return result.error().message;
}

HostTensor filled(const Shape& shape, std::uint8_t first) {
  HostTensor tensor = *HostTensor::allocate(DType::kUInt8, shape);
  for (std::int64_t i = 0; i < tensor.view().numel(); ++i) {
    tensor.view().mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(first + i);
  }
  return tensor;
}

}  // namespace

TEST_CASE("writes arrays and reads them back in order") {
  const TemporaryFile file("a.npz");
  const HostTensor a = filled({2, 2}, 10);
  const HostTensor b = filled({}, 7);
  const HostTensor c = filled({0, 3}, 0);
  const io::NamedTensorView views[] = {{"z", &a.view()}, {"arr_1", &b.view()}, {"empty", &c.view()}};
  REQUIRE(io::write_npz(file.path(), views));
  const auto read = io::read_npz(file.path());
  REQUIRE(read);
  REQUIRE(read->size() == 3);
  CHECK((*read)[0].name == "z");
  CHECK((*read)[0].tensor.view().shape() == Shape{2, 2});
  CHECK((*read)[0].tensor.view().data<std::uint8_t>()[3] == 13);
  CHECK((*read)[1].name == "arr_1");
  CHECK((*read)[1].tensor.view().rank() == 0);
  CHECK((*read)[2].tensor.view().numel() == 0);
  CHECK(*io::read_npz_keys(file.path()) == std::vector<std::string>{"z", "arr_1", "empty"});
}

TEST_CASE("an archive without arrays is written and read") {
  const TemporaryFile file("a.npz");
  REQUIRE(io::write_npz(file.path(), {}));
  CHECK(io::read_npz(file.path())->empty());
}

TEST_CASE("equal tensors make equal archives") {
  const TemporaryFile first("a.npz");
  const TemporaryFile second("b.npz");
  const HostTensor a = filled({5}, 1);
  const io::NamedTensorView views[] = {{"a", &a.view()}};
  REQUIRE(io::write_npz(first.path(), views));
  REQUIRE(io::write_npz(second.path(), views));
  CHECK(first.read() == second.read());
}

TEST_CASE("reads one array by its key and lists the keys for an unknown one") {
  const TemporaryFile file("a.npz");
  write_archive(file.path(), {{"x.npy", array({2}, "ab"), true}, {"y.npy", array({1}, "c")}});
  const auto tensor = io::read_npz_entry(file.path(), "y");
  REQUIRE(tensor);
  CHECK(tensor->view().data<char>()[0] == 'c');
  const auto unknown = io::read_npz_entry(file.path(), "q");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().where.at("key") == "q");
  CHECK(unknown.error().message.find("x, y") != std::string::npos);
}

TEST_CASE("reads large deflated members") {
  const TemporaryFile file("a.npz");
  write_archive(file.path(), {{"x.npy", array({300000}, std::string(300000, 'q')), true}});
  const auto read = io::read_npz(file.path());
  REQUIRE(read);
  CHECK((*read)[0].tensor.view().data<char>()[299999] == 'q');
}

TEST_CASE("reads the committed arrays that NumPy wrote") {
  const auto read = io::read_npz(std::string(PTERUN_TEST_DATA) + "/digits.inputs.npz");
  REQUIRE(read);
  CHECK_FALSE(read->empty());
  CHECK((*read)[0].tensor.view().dtype() == DType::kFloat32);
}

TEST_CASE("refuses what is no zip archive") {
  const TemporaryFile file("a.npz", "this is not an archive");
  CHECK(message(io::read_npz(file.path())).find("not a .npz archive") != std::string::npos);
  message(io::parse_npz({}, "empty.npz"));
  message(io::read_npz("/nonexistent/a.npz"));
}

TEST_CASE("refuses members that are no arrays, naming them") {
  const TemporaryFile file("a.npz");
  write_archive(file.path(), {{"data.pkl", "x"}});
  CHECK(message(io::read_npz(file.path())).find("'data.pkl'") != std::string::npos);
  write_archive(file.path(), {{"x.npy", "no array at all"}});
  const auto read = io::read_npz(file.path());
  CHECK(message(read).find("not a .npy array") != std::string::npos);
  CHECK(read.error().where.at("key") == "x");
}

TEST_CASE("refuses a member whose size is not what its shape needs") {
  const TemporaryFile file("a.npz");
  write_archive(file.path(), {{"x.npy", array({4}, "abc")}});
  CHECK(message(io::read_npz(file.path())).find("needs 4 bytes; there are 3") != std::string::npos);
}

TEST_CASE("refuses a damaged member by its checksum") {
  const TemporaryFile file("a.npz");
  write_archive(file.path(), {{"x.npy", array({4}, "wxyz")}});
  std::string content = file.read();
  content[content.find("wxyz")] = 'W';
  file.write(content);
  message(io::read_npz(file.path()));
}

TEST_CASE("refuses an array that is there twice") {
  const TemporaryFile file("a.npz");
  write_archive(file.path(), {{"x.npy", array({1}, "a")}, {"y.npy", array({1}, "b")}});
  std::string content = file.read();
  for (std::size_t at = content.find("y.npy"); at != std::string::npos; at = content.find("y.npy"))
    content[at] = 'x';
  file.write(content);
  message(io::read_npz(file.path()));
}

TEST_CASE("refuses sizes that the file cannot hold before allocating them") {
  const TemporaryFile file("a.npz");
  write_archive(file.path(), {{"x.npy", array({4}, "abcd"), true}});
  std::string content = file.read();
  // The uncompressed size in the central directory: 24 bytes behind its signature.
  const std::size_t directory = content.find("PK\x01\x02");
  REQUIRE(directory != std::string::npos);
  const std::uint32_t huge = 0x7FFFFFFF;
  std::memcpy(content.data() + directory + 24, &huge, sizeof(huge));
  file.write(content);
  CHECK(message(io::read_npz(file.path())).find("can hold") != std::string::npos);
}

TEST_CASE("never crashes on a truncated or flipped archive") {
  const TemporaryFile file("a.npz");
  write_archive(file.path(), {{"x.npy", array({40}, std::string(40, 'a')), true}, {"y.npy", array({4}, "abcd")}});
  const std::string whole = file.read();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK_FALSE(io::parse_npz(std::as_bytes(std::span(whole)).first(length), "cut.npz"));
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0xFF);
    (void)io::parse_npz(std::as_bytes(std::span(flipped)), "flipped.npz");
  }
}

TEST_CASE("refuses to write what NumPy does not have, and into missing folders") {
  const HostTensor tensor = *HostTensor::allocate(DType::kBFloat16, Shape{1});
  const io::NamedTensorView views[] = {{"a", &tensor.view()}};
  const TemporaryFile file("a.npz");
  const auto written = io::write_npz(file.path(), views);
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::kOutput);
  CHECK_FALSE(std::filesystem::exists(file.path()));
  const HostTensor plain = filled({2}, 1);
  const io::NamedTensorView good[] = {{"a", &plain.view()}};
  for (const auto tensors : {std::span<const io::NamedTensorView>(good), std::span<const io::NamedTensorView>()}) {
    const auto missing = io::write_npz(file.folder() + "/none/a.npz", tensors);
    REQUIRE_FALSE(missing);
    CHECK(exit_code(missing.error()) == 2);
  }
}
