// Row-major operands: conversion of dtype and layout where they differ.
#include "operators/compute_operands.h"

#include <cstring>

#include "operators/block_copy.h"

namespace pterun::operators {
namespace {

constexpr std::size_t kConversionGrain = 1 << 16;

// `from` in its own layout to row-major `to`, or back, without a change of dtype.
void copy_to_row_major(ExecuteContext& context, const Tensor& from, void* to) {
  const Strides row_major = strides_of(from.shape(), DimOrder::contiguous(from.rank()));
  copy_block(*context.threads, dtype_size(from.dtype()), from.shape(), from.raw_data(), from.strides(), to, row_major);
}

void copy_from_row_major(ExecuteContext& context, const void* from, Tensor& to) {
  const Strides row_major = strides_of(to.shape(), DimOrder::contiguous(to.rank()));
  copy_block(*context.threads, dtype_size(to.dtype()), to.shape(), from, row_major, to.mutable_raw_data(),
             to.strides());
}

}  // namespace

Result<const void*> compute_elements(ExecuteContext& context, const Tensor& tensor, Compute compute) {
  const auto count = static_cast<std::size_t>(tensor.numel());
  const void* elements = tensor.raw_data();
  if (count == 0) return elements;
  if (!tensor.is_row_major()) {
    PTERUN_ASSIGN(std::byte * copy, context.scratch->allocate(tensor.nbytes()));
    copy_to_row_major(context, tensor, copy);
    elements = copy;
  }
  if (is_native(tensor.dtype(), compute)) return elements;
  PTERUN_ASSIGN(std::byte * converted, context.scratch->allocate(count * compute_size(compute)));
  const LoadBlock load = load_block(tensor.dtype(), compute);
  const std::size_t from_size = dtype_size(tensor.dtype());
  const std::size_t to_size = compute_size(compute);
  context.threads->parallel_for(count, kConversionGrain, [&](std::size_t begin, std::size_t end) {
    load(static_cast<const std::byte*>(elements) + begin * from_size, 1, converted + begin * to_size, end - begin);
  });
  return converted;
}

Result<const float*> padded_input(ExecuteContext& context, const Tensor& tensor) {
  PTERUN_ASSIGN(const float* elements, compute_input<float>(context, tensor));
  if (!tensor.is_constant() || elements != tensor.raw_data() || tensor.numel() == 0) return elements;
  PTERUN_ASSIGN(std::byte * copy, context.scratch->allocate(tensor.nbytes()));
  std::memcpy(copy, elements, tensor.nbytes());
  return reinterpret_cast<const float*>(copy);
}

Result<ComputeOutput> ComputeOutput::open(ExecuteContext& context, Tensor& tensor, Compute compute) {
  ComputeOutput output;
  output.tensor_ = &tensor;
  output.compute_ = compute;
  if (is_native(tensor.dtype(), compute) && tensor.is_row_major()) {
    output.data_ = tensor.mutable_raw_data();
    return output;
  }
  const std::size_t size_bytes = static_cast<std::size_t>(tensor.numel()) * compute_size(compute);
  PTERUN_ASSIGN(output.data_, context.scratch->allocate(size_bytes));
  return output;
}

Result<void> ComputeOutput::store(ExecuteContext& context) {
  const auto count = static_cast<std::size_t>(tensor_->numel());
  if (data_ == tensor_->mutable_raw_data() || count == 0) return {};
  const DType dtype = tensor_->dtype();
  const void* elements = data_;
  if (!is_native(dtype, compute_)) {
    std::byte* converted = static_cast<std::byte*>(tensor_->mutable_raw_data());
    if (!tensor_->is_row_major()) {
      PTERUN_ASSIGN(converted, context.scratch->allocate(tensor_->nbytes()));
    }
    const StoreBlock store = store_block(compute_, dtype);
    const std::size_t from_size = compute_size(compute_);
    const std::size_t to_size = dtype_size(dtype);
    context.threads->parallel_for(count, kConversionGrain, [&](std::size_t begin, std::size_t end) {
      store(static_cast<const std::byte*>(data_) + begin * from_size, converted + begin * to_size, 1, end - begin);
    });
    elements = converted;
  }
  if (!tensor_->is_row_major()) copy_from_row_major(context, elements, *tensor_);
  return {};
}

}  // namespace pterun::operators
