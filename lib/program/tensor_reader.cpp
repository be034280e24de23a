// Tensors of a method: dtype, sizes, dim order, and where the data is. The rules of placement by data_buffer_idx and
// allocation_info are ExecuTorch's (runtime/executor/tensor_parser): index only is a constant, allocation only is
// planned memory, both are planned memory with initial bytes, neither waits for an input.
#include <fmt/format.h>

#include "base/checked.h"
#include "base/utf8.h"
#include "program/method_reader.h"

namespace pterun::program {
namespace {

constexpr int kDynamicBound = 1;
constexpr int kDynamicUnbound = 2;
constexpr int kExternal = 1;

std::unexpected<Error> invalid(std::string message) {
  return fail(program_error(ErrorCode::kInvalidProgram, std::move(message)));
}
std::unexpected<Error> unsupported(std::string message) {
  return fail(program_error(ErrorCode::kNotSupported, std::move(message)));
}

constexpr int kComplex32 = 8;  // ScalarType's ComplexHalf

Result<void> read_shape(const fb::Tensor& tensor, TensorSpec& spec) {
  if (tensor.sizes() == nullptr) return invalid("has no sizes");
  const auto sizes = items_of(tensor.sizes());
  if (sizes.size() > kMaxRank)
    return invalid(fmt::format("has rank {}; at most {} is possible", sizes.size(), kMaxRank));
  for (const std::int32_t size : sizes) {
    if (size < 0) return invalid(fmt::format("has the negative size {}", size));
    spec.sizes.push_back(size);
  }
  const auto numel = checked_numel(spec.sizes.span());
  const auto nbytes =
      numel ? checked_mul<std::int64_t>(*numel, static_cast<std::int64_t>(dtype_size(spec.dtype))) : std::nullopt;
  if (!nbytes) return invalid("has sizes " + spec.sizes.to_string() + ", which overflow");
  spec.nbytes = static_cast<std::uint64_t>(*nbytes);

  const auto order = items_of(tensor.dim_order());
  if (order.size() != sizes.size()) {
    return invalid(fmt::format("has rank {} and a dim order of {} entries", sizes.size(), order.size()));
  }
  const auto dim_order = DimOrder::from(order);
  if (!dim_order) return invalid("has a dim order that is no permutation");
  spec.dim_order = *dim_order;
  return {};
}

Result<void> read_kind(const fb::Tensor& tensor, TensorSpec& spec) {
  const auto dtype = dtype_from_number(tensor.scalar_type());
  if (tensor.scalar_type() == kComplex32) return unsupported("is complex32, which is not supported");
  if (!dtype) return invalid(fmt::format("has the unknown scalar type {}", tensor.scalar_type()));
  spec.dtype = *dtype;
  if (tensor.storage_offset() != 0) {
    return unsupported(fmt::format("has the storage offset {}; only 0 is supported", tensor.storage_offset()));
  }
  if (tensor.shape_dynamism() == kDynamicUnbound) {
    return unsupported("has a dynamic shape without an upper bound; export it with one (torch.export.Dim(…, max=…))");
  }
  if (tensor.shape_dynamism() < 0 || tensor.shape_dynamism() > kDynamicUnbound) {
    return invalid(fmt::format("has the unknown shape dynamism {}", tensor.shape_dynamism()));
  }
  spec.dynamic = tensor.shape_dynamism() == kDynamicBound;
  return {};
}

Result<void> read_plan(const fb::AllocationInfo& allocation, std::span<const std::uint64_t> buffer_bytes,
                       TensorSpec& spec) {
  if (allocation.memory_id() == 0 || allocation.memory_id() > buffer_bytes.size()) {
    return invalid(
        fmt::format("is planned in memory {}; there are 1 to {}", allocation.memory_id(), buffer_bytes.size()));
  }
  PlannedMemory planned;
  planned.buffer = allocation.memory_id() - 1;
  planned.offset_bytes = (static_cast<std::uint64_t>(allocation.offset_high()) << 32) | allocation.offset_low();
  const std::uint64_t size = buffer_bytes[planned.buffer];
  if (!range_fits(planned.offset_bytes, spec.nbytes, size)) {
    return invalid(fmt::format("needs {} bytes from offset {} of planned memory {}, which has {}", spec.nbytes,
                               planned.offset_bytes, allocation.memory_id(), size));
  }
  if (planned.offset_bytes % dtype_size(spec.dtype) != 0) {
    return invalid(fmt::format("is planned at offset {}, which is no multiple of the {} bytes of {}",
                               planned.offset_bytes, dtype_size(spec.dtype), dtype_name(spec.dtype)));
  }
  spec.planned = planned;
  return {};
}

Result<void> read_extra(const fb::ExtraTensorInfo& extra, TensorSpec& spec) {
  spec.name = text_of(extra.fully_qualified_name());
  if (extra.device_type() != 0) {
    return unsupported(fmt::format("is on device type {}; only the CPU (0) is supported", extra.device_type()));
  }
  if (extra.location() != 0 && extra.location() != kExternal) {
    return invalid(fmt::format("is at the unknown location {}", extra.location()));
  }
  spec.external = extra.location() == kExternal;
  if (spec.external && spec.name.empty()) return invalid("is in external data, but has no name to find it by");
  return {};
}

// No C++ bool may have another value than 0 or 1.
Result<void> check_bools(const TensorSpec& spec) {
  if (spec.dtype != DType::kBool || holds_bools(spec.data)) return {};
  return invalid("is a bool tensor with an element that is neither 0 nor 1");
}

}  // namespace

Result<TensorSpec> read_tensor(const fb::Tensor& tensor, std::span<const std::uint64_t> buffer_bytes,
                               const ReadContext& context) {
  TensorSpec spec;
  PTERUN_TRY(read_kind(tensor, spec));
  PTERUN_TRY(read_shape(tensor, spec));
  if (tensor.extra_tensor_info() != nullptr) PTERUN_TRY(read_extra(*tensor.extra_tensor_info(), spec));
  if (tensor.allocation_info() != nullptr) PTERUN_TRY(read_plan(*tensor.allocation_info(), buffer_bytes, spec));
  if (spec.external || tensor.data_buffer_idx() == 0) return spec;

  spec.has_data = true;
  if (spec.planned) {
    PTERUN_ASSIGN(spec.data, context.data.initial_value(tensor.data_buffer_idx(), spec.nbytes));
    PTERUN_TRY(check_bools(spec));
    return spec;  // copied into the plan, so that its alignment in the file does not matter
  }
  PTERUN_ASSIGN(const Bytes in_place, context.data.constant(tensor.data_buffer_idx(), spec.nbytes));
  PTERUN_ASSIGN(spec.data, context.copies.aligned(in_place, dtype_size(spec.dtype)));
  PTERUN_TRY(check_bools(spec));
  return spec;
}

}  // namespace pterun::program
