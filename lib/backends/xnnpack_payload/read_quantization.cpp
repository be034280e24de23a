// Quantisation parameters of a value: which kind its type needs, scales from the payload or from a constant, counts.
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "backends/xnnpack_payload/payload_parts.h"

namespace pterun::xnnpack_payload {
namespace {

// What a value's parameters are read for, and how its errors begin.
struct Target {
  DataType type;
  const Shape& dims;
  std::uint32_t id;

  std::unexpected<Error> error(const std::string& what) const { return fail(value_error(id, what)); }
  std::unexpected<Error> wrong_kind(const char* kind) const {
    return error(fmt::format("{} cannot have {} quantisation", data_type_name(type), kind));
  }
};

bool usable_scale(float scale) {
  return std::isfinite(scale) && scale > 0.0f;
}

Result<Quantization> read_per_tensor(const wire::PerTensor& wire, const Target& target) {
  std::int32_t low = 0, high = 0;
  switch (target.type) {
    case DataType::kQint8: low = -128, high = 127; break;
    case DataType::kQuint8: high = 255; break;
    case DataType::kQint32: break;
    default: return target.wrong_kind("per-tensor");
  }
  if (!usable_scale(wire.scale()))
    return target.error(fmt::format("scale {} is not positive and finite", wire.scale()));
  if (wire.zero_point() < low || wire.zero_point() > high) {
    return target.error(fmt::format("zero point {} of {} is outside [{}, {}]", wire.zero_point(),
                                    data_type_name(target.type), low, high));
  }
  return PerTensorQuantization{wire.scale(), wire.zero_point()};
}

// The bytes of a scale constant, checked to hold `count` items of `item_bytes`.
Result<Constant> find_scales(const Reading& reading, std::uint32_t index, std::size_t count, std::size_t item_bytes,
                             const Target& target) {
  PTERUN_ASSIGN(const Constant constant, find_constant(reading, index, target.id));
  if (constant.data.size() < count * item_bytes) {
    return target.error(fmt::format("scale constant {} has {} bytes, {} scales need {}", index, constant.data.size(),
                                    count, count * item_bytes));
  }
  return constant;
}

Result<void> check_count(std::uint32_t found, std::size_t needed, const Target& target) {
  if (found == needed) return {};
  return target.error(fmt::format("{} scales are given, {}{} needs {}", found, data_type_name(target.type),
                                  target.dims.to_string(), needed));
}

Result<Quantization> read_per_channel(const Reading& reading, const wire::PerChannel& wire, const Target& target) {
  PerChannelQuantization result;
  switch (target.type) {
    case DataType::kQcint8:
    case DataType::kQcint32: break;
    case DataType::kQcint4: result.zero_point = 8; break;
    default: return target.wrong_kind("per-channel");
  }
  if (wire.channel_dim() < 0 || static_cast<std::size_t>(wire.channel_dim()) >= target.dims.rank()) {
    return target.error(
        fmt::format("channel dim {} does not exist in {}", wire.channel_dim(), target.dims.to_string()));
  }
  result.channel_dim = static_cast<std::uint32_t>(wire.channel_dim());
  const auto count = static_cast<std::size_t>(target.dims[result.channel_dim]);
  if (wire.scale_buffer_idx() != 0) {
    PTERUN_TRY(check_count(wire.num_scales(), count, target));
    PTERUN_ASSIGN(const Constant constant, find_scales(reading, wire.scale_buffer_idx(), count, sizeof(float), target));
    result.scales.resize(count);
    if (count != 0) std::memcpy(result.scales.data(), constant.data.data(), count * sizeof(float));
    result.scales_key = constant.key;
  } else {
    const auto* scales = wire.scale();
    PTERUN_TRY(check_count(scales == nullptr ? 0 : scales->size(), count, target));
    if (scales != nullptr) result.scales.assign(scales->begin(), scales->end());
  }
  for (const float scale : result.scales) {
    if (!usable_scale(scale)) return target.error(fmt::format("scale {} is not positive and finite", scale));
  }
  return result;
}

Result<Quantization> read_per_block(const Reading& reading, const wire::PerChannelGroup& wire, const Target& target) {
  if (target.type != DataType::kQbint4) return target.wrong_kind("per-block");
  if (target.dims.rank() != 2 || wire.channel_dim() != 0) {
    return target.error(fmt::format("qbint4 needs two dims with channels first, found {} and channel dim {}",
                                    target.dims.to_string(), wire.channel_dim()));
  }
  const std::int64_t columns = target.dims[1];
  if (wire.group_size() <= 0 || columns % wire.group_size() != 0) {
    return target.error(fmt::format("block size {} does not divide {} columns", wire.group_size(), columns));
  }
  PerBlockQuantization result;
  result.block_size = static_cast<std::uint32_t>(wire.group_size());
  const auto count = static_cast<std::size_t>(target.dims[0] * (columns / wire.group_size()));
  if (wire.scale_buffer_idx() != 0) {
    PTERUN_TRY(check_count(wire.num_scales(), count, target));
    PTERUN_ASSIGN(const Constant constant,
                  find_scales(reading, wire.scale_buffer_idx(), count, sizeof(BFloat16), target));
    result.scales.resize(count);
    if (count != 0)
      std::memcpy(static_cast<void*>(result.scales.data()), constant.data.data(), count * sizeof(BFloat16));
    result.scales_key = constant.key;
  } else {
    const auto* scales = wire.scale();
    PTERUN_TRY(check_count(scales == nullptr ? 0 : scales->size(), count, target));
    result.scales.reserve(count);
    for (std::uint32_t i = 0; scales != nullptr && i < scales->size(); ++i) {
      // Half of the last kept bit added, then cut off: how exporters of the time rounded (facts 5.4).
      const auto bits = std::bit_cast<std::uint32_t>(scales->Get(i) * 1.00389105f);
      result.scales.push_back(BFloat16::from_bits(static_cast<std::uint16_t>(bits >> 16)));
    }
  }
  for (const BFloat16 scale : result.scales) {
    if (!usable_scale(static_cast<float>(scale))) {
      return target.error(fmt::format("scale {} is not positive and finite", static_cast<float>(scale)));
    }
  }
  return result;
}

Result<Quantization> read_dynamic(const wire::PerTokenDynamic& wire, const Target& target) {
  if (target.type != DataType::kQdint8 && target.type != DataType::kQpint8) return target.wrong_kind("dynamic");
  if (wire.num_nonbatch_dims() < 1 || static_cast<std::size_t>(wire.num_nonbatch_dims()) > target.dims.rank()) {
    return target.error(
        fmt::format("{} non-batch dims are impossible in {}", wire.num_nonbatch_dims(), target.dims.to_string()));
  }
  return DynamicQuantization{static_cast<std::uint32_t>(wire.num_nonbatch_dims())};
}

}  // namespace

Result<Quantization> read_quantization(const Reading& reading, const wire::QuantizedTensorValue& value, DataType type,
                                       const Shape& dims, std::uint32_t id) {
  const Target target{type, dims, id};
  if (value.quant_params() == nullptr) return target.error("quantisation parameters are missing");
  switch (value.quant_params_type()) {
    case wire::QuantParams::PerTensor: return read_per_tensor(*value.quant_params_as_PerTensor(), target);
    case wire::QuantParams::PerChannel: return read_per_channel(reading, *value.quant_params_as_PerChannel(), target);
    case wire::QuantParams::PerChannelGroup:
      return read_per_block(reading, *value.quant_params_as_PerChannelGroup(), target);
    case wire::QuantParams::PerTokenDynamic: return read_dynamic(*value.quant_params_as_PerTokenDynamic(), target);
    case wire::QuantParams::NONE: break;
  }
  return fail(program_error(ErrorCode::kNotImplemented,
                            fmt::format("XNNPACK payload: value {}: unknown kind of quantisation {}", id,
                                        static_cast<int>(value.quant_params_type()))));
}

}  // namespace pterun::xnnpack_payload
