// Element access by dtype.
#include "compare/element_reader.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace pterun::compare {
namespace {

template <typename T>
T load(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

// Maps the bits of a float to an integer line on which neighbours differ by 1 and both zeros coincide.
template <typename Bits>
std::int64_t ordered(Bits bits) {
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & static_cast<Bits>(kSign - 1));
  return (bits & kSign) != 0 ? -magnitude : magnitude;
}

template <typename Bits>
double steps(const std::byte* a, const std::byte* b) {
  const std::int64_t x = ordered(load<Bits>(a));
  const std::int64_t y = ordered(load<Bits>(b));
  return std::abs(static_cast<double>(x) - static_cast<double>(y)) < 0x1p52
             ? std::abs(static_cast<double>(x - y))
             : std::abs(static_cast<double>(x) - static_cast<double>(y));
}

// The 8-bit floats: sign, exponent of `exponent_bits`, rest mantissa. FNUZ kinds have one zero, NaN at 0x80.
double float8(std::uint8_t bits, int exponent_bits, bool fnuz, bool finite_only) {
  const int mantissa_bits = 7 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - (fnuz ? 0 : 1);
  const int exponent = (bits & 0x7F) >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x80) != 0 ? -1 : 1;
  if (fnuz && bits == 0x80) return std::nan("");
  if (!fnuz && exponent == (1 << exponent_bits) - 1) {
    if (!finite_only) return mantissa == 0 ? sign * HUGE_VAL : std::nan("");
    if (mantissa == (1 << mantissa_bits) - 1) return std::nan("");
  }
  const double scale = std::ldexp(1.0, (exponent == 0 ? 1 : exponent) - bias - mantissa_bits);
  return sign * (mantissa + (exponent == 0 ? 0 : (1 << mantissa_bits))) * scale;
}

}  // namespace

ElementReader::ElementReader(const Tensor& tensor)
    : tensor_(tensor),
      element_bytes_(dtype_size(tensor.dtype())),
      row_major_(tensor.is_row_major()),
      strides_(tensor.strides()) {}

const std::byte* ElementReader::address(std::int64_t index) const {
  const auto* base = static_cast<const std::byte*>(tensor_.raw_data());
  if (row_major_) return base + static_cast<std::size_t>(index) * element_bytes_;
  std::int64_t offset = 0;
  for (std::size_t i = tensor_.rank(); i-- > 0;) {
    offset += index % tensor_.size(i) * strides_[i];
    index /= tensor_.size(i);
  }
  return base + static_cast<std::size_t>(offset) * element_bytes_;
}

double ElementReader::at(std::int64_t index) const {
  const std::byte* p = address(index);
  switch (tensor_.dtype()) {
    case DType::kUInt8:
    case DType::kQUInt8:
    case DType::kQUInt4x2:
    case DType::kQUInt2x4:
    case DType::kBool: return load<std::uint8_t>(p);
    case DType::kInt8:
    case DType::kQInt8: return load<std::int8_t>(p);
    case DType::kInt16: return load<std::int16_t>(p);
    case DType::kUInt16:
    case DType::kBits16: return load<std::uint16_t>(p);
    case DType::kInt32:
    case DType::kQInt32: return load<std::int32_t>(p);
    case DType::kUInt32: return load<std::uint32_t>(p);
    case DType::kInt64: return static_cast<double>(load<std::int64_t>(p));
    case DType::kUInt64: return static_cast<double>(load<std::uint64_t>(p));
    case DType::kFloat16: return static_cast<float>(load<Half>(p));
    case DType::kBFloat16: return static_cast<float>(load<BFloat16>(p));
    case DType::kFloat32: return load<float>(p);
    case DType::kFloat64: return load<double>(p);
    // The real part; comparisons look at complex tensors through view_as_real.
    case DType::kComplex64: return load<float>(p);
    case DType::kComplex128: return load<double>(p);
    case DType::kFloat8E5M2: return float8(load<std::uint8_t>(p), 5, false, false);
    case DType::kFloat8E4M3FN: return float8(load<std::uint8_t>(p), 4, false, true);
    case DType::kFloat8E5M2FNUZ: return float8(load<std::uint8_t>(p), 5, true, true);
    case DType::kFloat8E4M3FNUZ: return float8(load<std::uint8_t>(p), 4, true, true);
  }
  return 0;
}

double ElementReader::exact_difference(std::int64_t index, const ElementReader& other) const {
  if (tensor_.dtype() == DType::kInt64) {
    const auto a = load<std::int64_t>(address(index));
    const auto b = load<std::int64_t>(other.address(index));
    return static_cast<double>(a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
                                     : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a));
  }
  if (tensor_.dtype() == DType::kUInt64) {
    const auto a = load<std::uint64_t>(address(index));
    const auto b = load<std::uint64_t>(other.address(index));
    return static_cast<double>(a > b ? a - b : b - a);
  }
  return std::abs(at(index) - other.at(index));
}

double ElementReader::ulp_distance(std::int64_t index, const ElementReader& other) const {
  const std::byte* a = address(index);
  const std::byte* b = other.address(index);
  switch (tensor_.dtype()) {
    case DType::kFloat16:
    case DType::kBFloat16: return steps<std::uint16_t>(a, b);
    case DType::kFloat32: return steps<std::uint32_t>(a, b);
    case DType::kFloat64: return steps<std::uint64_t>(a, b);
    case DType::kFloat8E5M2:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E4M3FNUZ: return steps<std::uint8_t>(a, b);
    default: return 0;
  }
}

std::vector<double> read_elements(const Tensor& tensor) {
  const ElementReader reader(tensor);
  std::vector<double> elements(static_cast<std::size_t>(tensor.numel()));
  for (std::size_t i = 0; i < elements.size(); ++i)
    elements[i] = reader.at(static_cast<std::int64_t>(i));
  return elements;
}

double element_error(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  const double error = std::abs(got - want);
  return std::isfinite(error) ? error : HUGE_VAL;
}

}  // namespace pterun::compare
