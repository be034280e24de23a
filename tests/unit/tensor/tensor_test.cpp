// Tensors: sizes and capacity, aligned memory, and copies between dim orders.
#include "tensor/tensor.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace pterun;

namespace {

bool is_aligned(const void* address, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

}  // namespace

TEST_CASE("a tensor says what it is") {
  std::vector<float> data(6);
  const Tensor tensor(DType::kFloat32, Shape{2, 3}, data.data());
  CHECK(tensor.describe() == "float32[2, 3]");
  CHECK(tensor.rank() == 2);
  CHECK(tensor.numel() == 6);
  CHECK(tensor.nbytes() == 24);
  CHECK(tensor.data<float>() == data.data());
  CHECK(tensor.is_row_major());
  CHECK_FALSE(tensor.is_dynamic());
  CHECK_FALSE(tensor.is_constant());
}

TEST_CASE("channels last is row-major only where it makes no difference") {
  CHECK_FALSE(Tensor(DType::kFloat32, Shape{1, 3, 2, 2}, DimOrder::channels_last(), nullptr).is_row_major());
  CHECK(Tensor(DType::kFloat32, Shape{1, 3, 1, 1}, DimOrder::channels_last(), nullptr).is_row_major());
}

TEST_CASE("a static tensor keeps its shape") {
  Tensor tensor(DType::kFloat32, Shape{2, 3}, nullptr);
  CHECK(tensor.resize(Shape{2, 3}));
  const auto other = tensor.resize(Shape{1, 3});
  REQUIRE_FALSE(other);
  CHECK(other.error().code == ErrorCode::kNotSupported);
  CHECK(other.error().message.find("static") != std::string::npos);
}

TEST_CASE("a dynamic tensor takes any shape of its rank that fits its bound") {
  Tensor tensor(DType::kFloat32, Shape{4, 3}, nullptr);
  tensor.mark_dynamic();
  CHECK(tensor.resize(Shape{2, 3}));
  CHECK(tensor.numel() == 6);
  CHECK(tensor.bound() == Shape{4, 3});
  CHECK(tensor.resize(Shape{12, 1}));
  CHECK(tensor.resize(Shape{0, 3}));
  for (const Shape& shape :
       {Shape{5, 3}, Shape{12}, Shape{2, 3, 1}, Shape{-1, 3}, Shape{std::int64_t{1} << 62, std::int64_t{1} << 62}}) {
    CAPTURE(shape.to_string());
    const auto refused = tensor.resize(shape);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::kNotSupported);
  }
  CHECK(tensor.shape() == Shape{0, 3});  // a refused shape changes nothing
}

TEST_CASE("more memory than the bound needs may be used") {
  Tensor tensor(DType::kInt64, Shape{2}, nullptr);
  tensor.mark_dynamic();
  tensor.set_capacity_bytes(32);
  CHECK(tensor.resize(Shape{4}));
  CHECK_FALSE(tensor.resize(Shape{5}));
}

TEST_CASE("buffers are aligned and readable past their end") {
  for (const std::size_t size : {0u, 1u, 63u, 64u, 1000u}) {
    CAPTURE(size);
    const auto plain = AlignedBuffer::allocate(size);
    const auto zeroed = AlignedBuffer::allocate_zeroed(size);
    REQUIRE(plain);
    REQUIRE(zeroed);
    CHECK(is_aligned(plain->data(), AlignedBuffer::kAlignment));
    CHECK(is_aligned(zeroed->data(), AlignedBuffer::kAlignment));
    CHECK(zeroed->size() == size);
    std::vector<std::byte> read(size + AlignedBuffer::kReadPadding);
    std::memcpy(read.data(), zeroed->data(), read.size());
    CHECK(std::count(read.begin(), read.end(), std::byte{0}) == static_cast<std::ptrdiff_t>(read.size()));
  }
}

TEST_CASE("memory that there cannot be is an error and no crash") {
  const auto huge = AlignedBuffer::allocate(std::numeric_limits<std::size_t>::max() - 10);
  REQUIRE_FALSE(huge);
  CHECK(huge.error().code == ErrorCode::kMemoryAllocationFailed);
  CHECK_FALSE(AlignedBuffer::allocate_zeroed(std::numeric_limits<std::size_t>::max() / 2));
  constexpr std::int64_t kBig = std::int64_t{1} << 40;
  CHECK(HostTensor::allocate(DType::kFloat64, Shape{kBig, kBig}).error().code == ErrorCode::kMemoryAllocationFailed);
  CHECK_FALSE(HostTensor::allocate(DType::kFloat32, Shape{-1}));
}

TEST_CASE("elements are copied to their places in another dim order") {
  std::vector<std::int32_t> rows(2 * 3 * 2 * 2);
  std::iota(rows.begin(), rows.end(), 0);
  const Tensor source(DType::kInt32, Shape{2, 3, 2, 2}, rows.data());
  auto channels_last = HostTensor::allocate(DType::kInt32, source.shape(), DimOrder::channels_last());
  REQUIRE(channels_last);
  REQUIRE(copy_elements(source, channels_last->view()));
  const auto* data = channels_last->view().data<std::int32_t>();
  CHECK(data[0] == 0);  // n 0, h 0, w 0, c 0
  CHECK(data[1] == 4);  // c 1
  CHECK(data[2] == 8);  // c 2
  CHECK(data[3] == 1);  // w 1, c 0
  const auto back = HostTensor::row_major_copy(channels_last->view());
  REQUIRE(back);
  CHECK(std::equal(rows.begin(), rows.end(), back->view().data<std::int32_t>()));
}

TEST_CASE("a copy between different shapes or dtypes is refused") {
  std::vector<float> data(6);
  const Tensor source(DType::kFloat32, Shape{2, 3}, data.data());
  Tensor other_shape(DType::kFloat32, Shape{3, 2}, data.data());
  Tensor other_dtype(DType::kInt32, Shape{2, 3}, data.data());
  CHECK(copy_elements(source, other_shape).error().code == ErrorCode::kInvalidArgument);
  CHECK(copy_elements(source, other_dtype).error().code == ErrorCode::kInvalidArgument);
}

TEST_CASE("a complex tensor is seen as pairs of its parts") {
  std::vector<std::complex<float>> data = {{1, 2}, {3, 4}};
  const Tensor pairs = view_as_real(Tensor(DType::kComplex64, Shape{2}, data.data()));
  CHECK(pairs.describe() == "float32[2, 2]");
  CHECK(pairs.data<float>()[3] == 4);
}
