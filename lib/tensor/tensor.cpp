// Tensor metadata, aligned memory and layout-aware copies.
#include "tensor/tensor.h"

#include <complex>
#include <cstdlib>
#include <cstring>

#include "base/checked.h"

namespace pterun {

Tensor::Tensor(DType dtype, const Shape& shape, const DimOrder& order, void* data)
    : dtype_(dtype), shape_(shape), order_(order), bound_(shape), numel_(shape.numel()), data_(data) {
  capacity_bytes_ = nbytes();
}

Tensor::Tensor(DType dtype, const Shape& shape, void* data)
    : Tensor(dtype, shape, DimOrder::contiguous(shape.rank()), data) {}

bool Tensor::is_row_major() const {
  return order_.is_contiguous() || same_layout(shape_, order_, DimOrder::contiguous(shape_.rank()));
}

Result<void> Tensor::resize(const Shape& shape) {
  if (shape == shape_) return {};
  if (shape.rank() != shape_.rank()) {
    return fail(ErrorCode::kNotSupported,
                "cannot change the rank of tensor " + describe() + " to shape " + shape.to_string());
  }
  if (!dynamic_) {
    return fail(ErrorCode::kNotSupported,
                "tensor " + describe() + " has a static shape and cannot become " + shape.to_string());
  }
  const auto numel = checked_numel(shape.span());
  const auto bytes = numel ? checked_mul(static_cast<std::size_t>(*numel), dtype_size(dtype_)) : std::nullopt;
  if (!bytes || *bytes > capacity_bytes_) {
    return fail(ErrorCode::kNotSupported, "shape " + shape.to_string() + " does not fit into the bound " +
                                              bound_.to_string() + " of a dynamic " + std::string(dtype_name(dtype_)) +
                                              " tensor");
  }
  shape_ = shape;
  numel_ = *numel;
  return {};
}

void Tensor::reshape_unchecked(const Shape& shape, const DimOrder& order) {
  shape_ = shape;
  order_ = order;
  numel_ = shape.numel();
}

std::string Tensor::describe() const {
  return std::string(dtype_name(dtype_)) + shape_.to_string();
}

void AlignedBuffer::Free::operator()(std::byte* p) const {
  std::free(p);
}

namespace {

Error out_of_memory(std::size_t size_bytes) {
  return make_error(ErrorCode::kMemoryAllocationFailed, "cannot allocate " + std::to_string(size_bytes) + " bytes");
}

}  // namespace

Result<AlignedBuffer> AlignedBuffer::allocate(std::size_t size_bytes) {
  const auto padded = checked_add(size_bytes, kReadPadding + kAlignment);
  AlignedBuffer buffer;
  if (padded) {
    buffer.memory_.reset(
        static_cast<std::byte*>(std::aligned_alloc(kAlignment, round_up(*padded - kAlignment, kAlignment))));
  }
  if (buffer.memory_ == nullptr) return fail(out_of_memory(size_bytes));
  buffer.data_ = buffer.memory_.get();
  buffer.size_ = size_bytes;
  return buffer;
}

Result<AlignedBuffer> AlignedBuffer::allocate_zeroed(std::size_t size_bytes) {
  const auto padded = checked_add(size_bytes, kReadPadding + kAlignment);
  AlignedBuffer buffer;
  // calloc gives fresh zero pages to large blocks without touching them.
  if (padded) buffer.memory_.reset(static_cast<std::byte*>(std::calloc(*padded, 1)));
  if (buffer.memory_ == nullptr) return fail(out_of_memory(size_bytes));
  const auto address = reinterpret_cast<std::uintptr_t>(buffer.memory_.get());
  buffer.data_ = buffer.memory_.get() + (round_up(address, kAlignment) - address);
  buffer.size_ = size_bytes;
  return buffer;
}

Result<HostTensor> HostTensor::allocate(DType dtype, const Shape& shape) {
  return allocate(dtype, shape, DimOrder::contiguous(shape.rank()));
}

Result<HostTensor> HostTensor::allocate(DType dtype, const Shape& shape, const DimOrder& order) {
  const auto numel = checked_numel(shape.span());
  const auto bytes = numel ? checked_mul(static_cast<std::size_t>(*numel), dtype_size(dtype)) : std::nullopt;
  if (!bytes) {
    return fail(ErrorCode::kMemoryAllocationFailed, "a tensor of shape " + shape.to_string() + " is too large");
  }
  HostTensor tensor;
  PTERUN_ASSIGN(tensor.buffer_, AlignedBuffer::allocate(*bytes));
  tensor.tensor_ = Tensor(dtype, shape, order, tensor.buffer_.data());
  return tensor;
}

Result<HostTensor> HostTensor::row_major_copy(const Tensor& source) {
  PTERUN_ASSIGN(HostTensor copy, allocate(source.dtype(), source.shape()));
  PTERUN_TRY(copy_elements(source, copy.view()));
  return copy;
}

namespace {

// Copies a strided block: dimension `dim` and those behind it in row-major order of the destination's dim order.
template <typename Word>
void copy_strided(const Word* from, Word* to, const Shape& sizes, const Strides& from_strides,
                  const Strides& to_strides, const DimOrder& order, std::size_t level) {
  const std::size_t dim = order[level];
  const std::int64_t count = sizes[dim];
  const std::int64_t from_step = from_strides[dim];
  const std::int64_t to_step = to_strides[dim];
  if (level + 1 == sizes.rank()) {
    for (std::int64_t i = 0; i < count; ++i)
      to[i * to_step] = from[i * from_step];
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    copy_strided(from + i * from_step, to + i * to_step, sizes, from_strides, to_strides, order, level + 1);
  }
}

template <typename Word>
void copy_words(const Tensor& source, Tensor& destination) {
  copy_strided(static_cast<const Word*>(source.raw_data()), static_cast<Word*>(destination.mutable_raw_data()),
               source.shape(), source.strides(), destination.strides(), destination.dim_order(), 0);
}

}  // namespace

Tensor view_as_real(const Tensor& tensor) {
  Shape shape = tensor.shape();
  shape.push_back(2);
  return Tensor(complex_part(tensor.dtype()), shape, const_cast<void*>(tensor.raw_data()));
}

Result<void> copy_elements(const Tensor& source, Tensor& destination) {
  if (source.dtype() != destination.dtype() || source.shape() != destination.shape()) {
    return fail(ErrorCode::kInvalidArgument, "cannot copy " + source.describe() + " to " + destination.describe());
  }
  if (source.numel() == 0) return {};
  if (same_layout(source.shape(), source.dim_order(), destination.dim_order())) {
    std::memmove(destination.mutable_raw_data(), source.raw_data(), source.nbytes());
    return {};
  }
  switch (dtype_size(source.dtype())) {
    case 1: copy_words<std::uint8_t>(source, destination); break;
    case 2: copy_words<std::uint16_t>(source, destination); break;
    case 4: copy_words<std::uint32_t>(source, destination); break;
    case 8: copy_words<std::uint64_t>(source, destination); break;
    default: copy_words<std::complex<double>>(source, destination); break;
  }
  return {};
}

}  // namespace pterun
