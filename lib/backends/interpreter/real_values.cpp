// Between stored elements and real numbers. XNNPACK's storage conventions are in graph.h.
#include "backends/interpreter/real_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace pterun::backends::interpreter {
namespace {

using xnnpack_payload::DataType;
using xnnpack_payload::DynamicQuantization;
using xnnpack_payload::PerBlockQuantization;
using xnnpack_payload::PerChannelQuantization;
using xnnpack_payload::PerTensorQuantization;
using xnnpack_payload::Value;

template <typename T>
T element(Bytes data, std::size_t index) {
  T value;
  std::memcpy(&value, data.data() + index * sizeof(T), sizeof(T));
  return value;
}

// 4-bit rows (last dimension) start at whole bytes, low nibble first.
int nibble(Bytes data, const Shape& dims, std::size_t index) {
  const auto row_length = static_cast<std::size_t>(dims[dims.rank() - 1]);
  const std::size_t row = index / row_length;
  const std::size_t column = index % row_length;
  const int byte = std::to_integer<int>(data[row * ((row_length + 1) / 2) + column / 2]);
  return column % 2 == 0 ? byte & 0xF : byte >> 4;
}

double stored_element(const Value& value, std::size_t index) {
  switch (value.type) {
    case DataType::kFp32:
    case DataType::kPfp32: return element<float>(value.data, index);
    case DataType::kFp16: return static_cast<float>(element<Half>(value.data, index));
    case DataType::kBf16: return static_cast<float>(element<BFloat16>(value.data, index));
    case DataType::kQint8:
    case DataType::kQcint8:
    case DataType::kQdint8:
    case DataType::kQpint8: return element<std::int8_t>(value.data, index);
    case DataType::kQuint8: return element<std::uint8_t>(value.data, index);
    case DataType::kQint32:
    case DataType::kQcint32:
    case DataType::kInt32: return element<std::int32_t>(value.data, index);
    case DataType::kQcint4:
    case DataType::kQbint4: return nibble(value.data, value.dims, index);
    case DataType::kInvalid: return 0;
  }
  return 0;
}

// The scale of one element and the zero point of all.
struct Scales {
  explicit Scales(const Value& value) {
    if (const auto* tensor = value.quantized_as<PerTensorQuantization>()) {
      zero_point = tensor->zero_point;
      per_tensor = tensor->scale;
    } else if (const auto* channel = value.quantized_as<PerChannelQuantization>()) {
      zero_point = channel->zero_point;
      channels = &channel->scales;
      for (std::size_t i = channel->channel_dim + 1; i < value.dims.rank(); ++i) {
        inner *= static_cast<std::size_t>(value.dims[i]);
      }
    } else if (const auto* block = value.quantized_as<PerBlockQuantization>()) {
      zero_point = block->zero_point;
      blocks = &block->scales;
      inner = block->block_size;
    }
  }
  double at(std::size_t index) const {
    if (channels != nullptr) return (*channels)[index / inner % channels->size()];
    if (blocks != nullptr) return static_cast<float>((*blocks)[index / inner]);
    return per_tensor;
  }

  int zero_point = 0;
  double per_tensor = 1;
  const std::vector<float>* channels = nullptr;
  const std::vector<BFloat16>* blocks = nullptr;
  std::size_t inner = 1;
};

struct Range {
  double low;
  double high;
};

// The stored range of a type that results are rounded to; none for types that keep real numbers.
bool stored_range(DataType type, Range& range) {
  switch (type) {
    case DataType::kQint8: range = {-128, 127}; return true;
    case DataType::kQuint8: range = {0, 255}; return true;
    case DataType::kQint32: range = {-0x1p31, 0x1p31 - 1}; return true;
    case DataType::kInvalid:
    case DataType::kFp32:
    case DataType::kFp16:
    case DataType::kQcint8:
    case DataType::kQcint32:
    case DataType::kQcint4:
    case DataType::kQdint8:
    case DataType::kQbint4:
    case DataType::kQpint8:
    case DataType::kInt32:
    case DataType::kPfp32:
    case DataType::kBf16: return false;
  }
  return false;
}

double quantize(double real, double scale, int zero_point, const Range& range) {
  const double stored = std::nearbyint(real / scale) + zero_point;
  return std::isnan(stored) ? range.low : std::clamp(stored, range.low, range.high);
}

// One scale and zero point per batch item, chosen from its smallest and largest element with zero in between, as
// XNNPACK does (asymmetric, 8 bits).
void round_dynamic(const Shape& shape, std::uint32_t num_nonbatch_dims, Reals& reals) {
  std::size_t item = 1;
  for (std::size_t i = shape.rank() - std::min<std::size_t>(num_nonbatch_dims, shape.rank()); i < shape.rank(); ++i) {
    item *= static_cast<std::size_t>(shape[i]);
  }
  for (std::size_t begin = 0; item != 0 && begin < reals.size(); begin += item) {
    double low = 0;
    double high = 0;
    for (std::size_t i = begin; i < begin + item; ++i) {
      low = std::min(low, reals[i]);
      high = std::max(high, reals[i]);
    }
    const double scale = high == low ? 1.0 : (high - low) / 255.0;
    const double from_low = -128 - low / scale;
    const double from_high = 127 - high / scale;
    const double error_low = 128 + std::abs(low / scale);
    const double error_high = 127 + std::abs(high / scale);
    const double zero_point = std::nearbyint(
        std::clamp(error_low + error_high > 0 && error_low < error_high ? from_low : from_high, -128.0, 127.0));
    for (std::size_t i = begin; i < begin + item; ++i) {
      const double stored = std::clamp(std::nearbyint(reals[i] / scale) + zero_point, -128.0, 127.0);
      reals[i] = (stored - zero_point) * scale;
    }
  }
}

}  // namespace

Result<Reals> constant_reals(const Value& value) {
  Reals reals(static_cast<std::size_t>(value.dims.numel()));
  const Scales scales(value);
  const bool quantized = !std::holds_alternative<std::monostate>(value.quantization);
  for (std::size_t i = 0; i < reals.size(); ++i) {
    const double stored = stored_element(value, i);
    reals[i] = quantized ? (stored - scales.zero_point) * scales.at(i) : stored;
  }
  return reals;
}

void round_to_type(const Value& value, const Shape& shape, Reals& reals) {
  if (const auto* dynamic = value.quantized_as<DynamicQuantization>()) {
    round_dynamic(shape, dynamic->num_nonbatch_dims, reals);
    return;
  }
  Range range{};
  if (stored_range(value.type, range)) {
    const Scales scales(value);
    for (std::size_t i = 0; i < reals.size(); ++i) {
      reals[i] = (quantize(reals[i], scales.at(i), scales.zero_point, range) - scales.zero_point) * scales.at(i);
    }
  } else if (value.type == DataType::kFp16) {
    for (double& real : reals)
      real = static_cast<float>(Half(static_cast<float>(real)));
  } else if (value.type == DataType::kBf16) {
    for (double& real : reals)
      real = static_cast<float>(BFloat16(static_cast<float>(real)));
  }
}

Result<Reals> read_tensor(const Value& value, const Tensor& tensor) {
  PTERUN_ASSIGN(const HostTensor copy, HostTensor::row_major_copy(tensor));
  const Tensor& row_major = copy.view();
  Reals reals(static_cast<std::size_t>(tensor.numel()));
  const Scales scales(value);
  const auto fill = [&]<typename T>(const T* data, bool stored) {
    for (std::size_t i = 0; i < reals.size(); ++i) {
      const auto real = static_cast<double>(static_cast<float>(data[i]));
      reals[i] = stored ? (real - scales.zero_point) * scales.at(i) : real;
    }
  };
  switch (tensor.dtype()) {
    case DType::kFloat32: fill(row_major.data<float>(), false); return reals;
    case DType::kFloat16: fill(row_major.data<Half>(), false); return reals;
    case DType::kBFloat16: fill(row_major.data<BFloat16>(), false); return reals;
    case DType::kInt8: fill(row_major.data<std::int8_t>(), true); return reals;
    case DType::kUInt8: fill(row_major.data<std::uint8_t>(), true); return reals;
    default:
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("a delegate input is {}, its payload has {}", tensor.describe(),
                              xnnpack_payload::data_type_name(value.type)));
  }
}

Result<void> write_tensor(const Value& value, const Reals& reals, Tensor& tensor) {
  PTERUN_ASSIGN(HostTensor row_major, HostTensor::allocate(tensor.dtype(), tensor.shape()));
  const Scales scales(value);
  const auto stored = [&](std::size_t i) { return std::nearbyint(reals[i] / scales.at(i)) + scales.zero_point; };
  Tensor& view = row_major.view();
  switch (tensor.dtype()) {
    case DType::kFloat32:
      std::ranges::transform(reals, view.mutable_data<float>(), [](double r) { return static_cast<float>(r); });
      break;
    case DType::kFloat16:
      std::ranges::transform(reals, view.mutable_data<Half>(), [](double r) { return Half(static_cast<float>(r)); });
      break;
    case DType::kBFloat16:
      std::ranges::transform(reals, view.mutable_data<BFloat16>(),
                             [](double r) { return BFloat16(static_cast<float>(r)); });
      break;
    case DType::kInt8:
      for (std::size_t i = 0; i < reals.size(); ++i)
        view.mutable_data<std::int8_t>()[i] = static_cast<std::int8_t>(stored(i));
      break;
    case DType::kUInt8:
      for (std::size_t i = 0; i < reals.size(); ++i)
        view.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(stored(i));
      break;
    case DType::kInt32:
      std::ranges::transform(reals, view.mutable_data<std::int32_t>(),
                             [](double r) { return static_cast<std::int32_t>(r); });
      break;
    case DType::kInt64:
      std::ranges::transform(reals, view.mutable_data<std::int64_t>(),
                             [](double r) { return static_cast<std::int64_t>(r); });
      break;
    default:
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("a delegate output is {}, its payload has {}", tensor.describe(),
                              xnnpack_payload::data_type_name(value.type)));
  }
  return copy_elements(view, tensor);
}

}  // namespace pterun::backends::interpreter
