// From 13 dtypes to few compute types. Kernels are written for float (float16, bfloat16, float32), double (float64)
// and int64 (integers and bool); operands are converted in blocks on the way in and out. An operator is therefore
// instantiated at most three times, and truncation on the way out gives eager's two's complement wrap-around.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "operators/arguments.h"
#include "tensor/dtype.h"

namespace pterun::operators {

enum class Compute : std::uint8_t {
  kFloat,
  kDouble,
  kInt64,
  kTruth,  // std::uint8_t, 0 or 1: conditions, masks, results of comparisons
};

// A truth value inside a block; a type of its own so that it is not taken for a small integer.
using Truth = std::uint8_t;

// Elements of a block: small enough that a few blocks of 8-byte elements stay in the first-level cache.
inline constexpr std::size_t kBlock = 1024;

// kTruth is never returned: bool counts as an integer unless an operator asks for truth values.
// The dtype is one of kAllDTypes.
constexpr Compute compute_of(DType dtype) {
  if (dtype == DType::kFloat64) return Compute::kDouble;
  return is_floating(dtype) ? Compute::kFloat : Compute::kInt64;
}
constexpr std::size_t compute_size(Compute compute) {
  return compute == Compute::kFloat ? 4 : compute == Compute::kTruth ? 1 : 8;
}
// Whether arrays of the dtype are arrays of the compute type, so that no conversion is needed. (A bool is one byte
// too, but only after normalisation, since a file may hold other bytes than 0 and 1.)
constexpr bool is_native(DType dtype, Compute compute) {
  return (dtype == DType::kFloat32 && compute == Compute::kFloat) ||
         (dtype == DType::kFloat64 && compute == Compute::kDouble) ||
         (dtype == DType::kInt64 && compute == Compute::kInt64);
}

template <typename T>
inline constexpr Compute kComputeOf = std::is_same_v<T, float>    ? Compute::kFloat
                                      : std::is_same_v<T, double> ? Compute::kDouble
                                      : std::is_same_v<T, Truth>  ? Compute::kTruth
                                                                  : Compute::kInt64;

// Calls body.template operator()<T>() with T = float, double or std::int64_t.
template <typename Body>
decltype(auto) visit_compute(DType dtype, const Body& body) {
  switch (compute_of(dtype)) {
    case Compute::kFloat: return body.template operator()<float>();
    case Compute::kDouble: return body.template operator()<double>();
    case Compute::kInt64:
    case Compute::kTruth: break;
  }
  return body.template operator()<std::int64_t>();
}

// The same for a floating dtype: T = float or double.
template <typename Body>
decltype(auto) visit_float_compute(DType dtype, const Body& body) {
  if (compute_of(dtype) == Compute::kDouble) return body.template operator()<double>();
  return body.template operator()<float>();
}

// 16 bytes, a complex128: moved, never computed with.
struct WordPair {
  std::uint64_t first;
  std::uint64_t second;
};

// Calls body.template operator()<Word>() with a type of that size (1, 2, 4, 8 unsigned; 16), for moving elements.
template <typename Body>
decltype(auto) visit_word(std::size_t size, const Body& body) {
  switch (size) {
    case 1: return body.template operator()<std::uint8_t>();
    case 2: return body.template operator()<std::uint16_t>();
    case 4: return body.template operator()<std::uint32_t>();
    case 16: return body.template operator()<WordPair>();
    default: return body.template operator()<std::uint64_t>();
  }
}

// Converts `count` elements, `stride` elements apart in `from` (any sign, 0 too), to a plain array at `to`.
using LoadBlock = void (*)(const void* from, std::ptrdiff_t stride, void* to, std::size_t count);
// Converts a plain array of the compute type to `count` elements, `stride` elements apart in `to`.
using StoreBlock = void (*)(const void* from, void* to, std::ptrdiff_t stride, std::size_t count);

// Conversions as eager does them: floats to integers truncate (out of range gives what x86-64 gives), anything to
// bool is "!= 0", to float16 and bfloat16 by way of float, integers wrap. Of complex numbers the real part is taken,
// but for bool; numbers become complex ones without an imaginary part. The dtype is one of kAnyDType.
LoadBlock load_block(DType from, Compute to);
StoreBlock store_block(Compute from, DType to);

// Typed: load_as<float>(DType::kFloat16)(source, 1, floats, n).
template <typename T>
void load_as(DType from, const void* source, std::ptrdiff_t stride, T* to, std::size_t count) {
  load_block(from, kComputeOf<T>)(source, stride, to, count);
}
template <typename T>
void store_as(DType to, const T* from, void* destination, std::ptrdiff_t stride, std::size_t count) {
  store_block(kComputeOf<T>, to)(from, destination, stride, count);
}
// One element.
template <typename T>
T load_one(DType from, const void* source) {
  T value;
  load_as<T>(from, source, 1, &value, 1);
  return value;
}
template <typename T>
void store_one(DType to, T value, void* destination) {
  store_as<T>(to, &value, destination, 1, 1);
}

// Converts a dense array from one dtype to another.
void convert_elements(DType from, const void* source, DType to, void* destination, std::size_t count);

// The nearest value that the dtype holds.
template <typename T>
T round_to(DType dtype, T value) {
  if (is_native(dtype, kComputeOf<T>)) return value;
  alignas(16) std::byte element[16];
  store_one<T>(dtype, value, element);
  return load_one<T>(dtype, element);
}

// What an element is added up by: itself, or its real and imaginary part.
struct Parts {
  DType dtype = DType::kFloat32;
  std::int64_t count = 1;
  std::int64_t size = 4;  // bytes of one
};
inline Parts parts_of(DType dtype) {
  const DType part = is_complex(dtype) ? complex_part(dtype) : dtype;
  return {part, is_complex(dtype) ? 2 : 1, static_cast<std::int64_t>(dtype_size(part))};
}

// One element of any dtype.
struct Element {
  alignas(16) std::array<std::byte, 16> bytes{};
};
// The Scalar converted to the dtype.
Element element_of(const Scalar& scalar, DType dtype);

// A Scalar as a compute value; doubles truncate for int64.
template <typename T>
T scalar_as(const Scalar& scalar) {
  if constexpr (std::is_same_v<T, Truth>)
    return scalar.to_bool() ? 1 : 0;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return scalar.to_int();
  else
    return static_cast<T>(scalar.to_double());
}

// The Scalar rounded to a dtype, as eager's `tensor.fill_(scalar)` stores it, read back as the compute type.
template <typename T>
T scalar_rounded(const Scalar& scalar, DType dtype) {
  return load_one<T>(dtype, element_of(scalar, dtype).bytes.data());
}

// Integer arithmetic modulo 2^64: overflow wraps instead of being undefined. Floats: plain arithmetic.
template <typename T>
constexpr T wrap_add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <typename T>
constexpr T wrap_sub(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else
    return a - b;
}
template <typename T>
constexpr T wrap_mul(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}

}  // namespace pterun::operators
