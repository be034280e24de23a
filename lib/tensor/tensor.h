// Tensor: dtype, sizes, dim order and a pointer to memory that somebody else owns (a memory plan, a mapping, a
// HostTensor). Dense: strides follow from sizes and dim order. Not thread safe while being resized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace pterun {

class Tensor {
 public:
  Tensor() = default;
  // A static tensor: resize() accepts nothing but its own shape. `data` holds shape.numel() elements or is null.
  Tensor(DType dtype, const Shape& shape, const DimOrder& order, void* data);
  Tensor(DType dtype, const Shape& shape, void* data);  // contiguous

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::size_t rank() const { return shape_.rank(); }
  std::int64_t size(std::size_t dim) const { return shape_[dim]; }
  std::int64_t numel() const { return numel_; }
  std::size_t nbytes() const { return static_cast<std::size_t>(numel_) * dtype_size(dtype_); }
  const DimOrder& dim_order() const { return order_; }
  Strides strides() const { return strides_of(shape_, order_); }
  // Whether the elements lie in row-major order (true as well for any order when at most one dimension is > 1).
  bool is_row_major() const;

  template <typename T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }
  template <typename T>
  T* mutable_data() {
    return static_cast<T*>(data_);
  }
  const void* raw_data() const { return data_; }
  void* mutable_raw_data() { return data_; }
  void set_data(void* data) { data_ = data; }

  // Whether the bytes never change while the program is loaded (weights in place from the file).
  bool is_constant() const { return constant_; }
  void mark_constant() { constant_ = true; }

  // Sizes up to which a tensor with a dynamic shape may grow; equal to shape() at creation.
  bool is_dynamic() const { return dynamic_; }
  const Shape& bound() const { return bound_; }
  std::size_t capacity_bytes() const { return capacity_bytes_; }
  void mark_dynamic() { dynamic_ = true; }
  // Memory behind data() in bytes, where it is more than the bound needs.
  void set_capacity_bytes(std::size_t bytes) { capacity_bytes_ = bytes; }

  // Gives the tensor another shape of the same rank. Static tensors accept only their own shape; dynamic ones
  // whatever fits into their capacity. Errors: kNotSupported (rank or static shape), kNotSupported (capacity).
  Result<void> resize(const Shape& shape);
  // Replaces shape, rank and dim order without any check, for views whose memory is known to fit.
  void reshape_unchecked(const Shape& shape, const DimOrder& order);

  // "float32[1, 3, 224, 224]"
  std::string describe() const;

 private:
  DType dtype_ = DType::kFloat32;
  bool constant_ = false;
  bool dynamic_ = false;
  Shape shape_;
  DimOrder order_;
  Shape bound_;
  std::int64_t numel_ = 1;
  std::size_t capacity_bytes_ = 0;
  void* data_ = nullptr;
};

// Aligned heap memory with room behind its end for kernels that read whole vectors.
class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kReadPadding = 128;  // readable bytes past the end; XNNPACK needs 16 to 128
  AlignedBuffer() = default;
  // Uninitialised; errors: kMemoryAllocationFailed naming the size.
  static Result<AlignedBuffer> allocate(std::size_t size_bytes);
  // The same, zero; large sizes cost no resident memory until they are touched.
  static Result<AlignedBuffer> allocate_zeroed(std::size_t size_bytes);
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte[], Free> memory_;
  std::byte* data_ = nullptr;  // aligned, inside memory_
  std::size_t size_ = 0;
};

// A tensor that owns its memory: inputs, references, saved outputs.
class HostTensor {
 public:
  HostTensor() = default;
  // Uninitialised memory. Errors: kMemoryAllocationFailed.
  static Result<HostTensor> allocate(DType dtype, const Shape& shape);
  static Result<HostTensor> allocate(DType dtype, const Shape& shape, const DimOrder& order);
  // A copy in row-major order, whatever the dim order of `source`.
  static Result<HostTensor> row_major_copy(const Tensor& source);

  const Tensor& view() const { return tensor_; }
  Tensor& view() { return tensor_; }

 private:
  Tensor tensor_;
  AlignedBuffer buffer_;
};

// A complex tensor in row-major order as its real and imaginary parts, in a last dimension of size 2: a view of the
// same memory. Rank below kMaxRank.
Tensor view_as_real(const Tensor& tensor);

// Copies elements between tensors of the same dtype and shape whose dim orders may differ.
// Errors: kInvalidArgument when dtype or shape differ.
Result<void> copy_elements(const Tensor& source, Tensor& destination);

}  // namespace pterun
