// The tables of block conversions: 15 dtypes to and from 4 compute types.
#include "operators/dtype_dispatch.h"

#include <algorithm>
#include <array>
#include <limits>

#include "operators/vector_target.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pterun::operators {
namespace {

// What cvttss2si and its relatives give: truncation, and the smallest value for NaN and whatever does not fit.
template <typename Int, typename Real>
constexpr Int truncate(Real value) {
  constexpr Real kLow = static_cast<Real>(std::numeric_limits<Int>::min());
  return value >= kLow && value < -kLow ? static_cast<Int>(value) : std::numeric_limits<Int>::min();
}

template <typename To, typename Real>
constexpr To real_to_integer(Real value) {
  if constexpr (std::is_same_v<To, std::uint64_t>) {
    if (value >= Real{0x1p63} && value < Real{0x1p64}) return static_cast<std::uint64_t>(value);
    return static_cast<std::uint64_t>(truncate<std::int64_t>(value));
  } else if constexpr (sizeof(To) == 8 || std::is_unsigned_v<To>) {
    return static_cast<To>(truncate<std::int64_t>(value));
  } else {
    return static_cast<To>(truncate<std::int32_t>(value));
  }
}

// A bool or Truth in memory; one type for both, so that a byte other than 0 and 1 is harmless.
struct Flag {
  std::uint8_t byte;
};

// A complex number in memory.
template <typename Part>
struct ComplexOf {
  Part real, imaginary;
};
template <typename T>
inline constexpr bool kIsComplex = false;
template <typename Part>
inline constexpr bool kIsComplex<ComplexOf<Part>> = true;

template <typename To, typename From>
inline To convert(From value) {
  if constexpr (kIsComplex<To>) {
    return To{convert<decltype(To::real)>(value), 0};
  } else if constexpr (kIsComplex<From> && std::is_same_v<To, Flag>) {
    return Flag{static_cast<std::uint8_t>(value.real != 0 || value.imaginary != 0 ? 1 : 0)};
  } else if constexpr (kIsComplex<From>) {
    return convert<To>(value.real);
  } else if constexpr (std::is_same_v<From, To> && !std::is_same_v<To, Flag>) {
    return value;
  } else if constexpr (std::is_same_v<From, Flag>) {
    return convert<To>(static_cast<std::int64_t>(value.byte != 0));
  } else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, Flag>) {
    return Flag{static_cast<std::uint8_t>(value != From{0} ? 1 : 0)};
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return real_to_integer<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

#if defined(__x86_64__)
// The processor converts float16 itself, eight at a time, rounding to nearest even. Returns how many it did.
PTERUN_TARGET_AVX2 std::size_t convert_vectors(const Half* from, float* to, std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  }
  return i;
}
PTERUN_TARGET_AVX2 std::size_t convert_vectors(const float* from, Half* to, std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), halves);
  }
  return i;
}
#endif
template <typename From, typename To>
std::size_t convert_vectors(const From*, To*, std::size_t) {
  return 0;
}

template <typename From, typename To>
struct Conversion {
  [[gnu::always_inline]] static inline void dense(const From* from, To* to, std::size_t count) {
    PTERUN_INDEPENDENT
    for (std::size_t i = 0; i < count; ++i)
      to[i] = convert<To>(from[i]);
  }
  static void dense_base(const From* from, To* to, std::size_t count) { dense(from, to, count); }
  PTERUN_TARGET_AVX2 static void dense_avx2(const From* from, To* to, std::size_t count) {
    const std::size_t done = convert_vectors(from, to, count);
    dense(from + done, to + done, count - done);
  }

  static void run_dense(const From* from, To* to, std::size_t count) {
    if (vector_target() == VectorTarget::kBase)
      dense_base(from, to, count);
    else
      dense_avx2(from, to, count);
  }
  static void load(const void* from, std::ptrdiff_t stride, void* to, std::size_t count) {
    const From* source = static_cast<const From*>(from);
    To* target = static_cast<To*>(to);
    if (stride == 1) return run_dense(source, target, count);
    if (stride == 0) {
      std::fill_n(target, count, count == 0 ? To{} : convert<To>(*source));
      return;
    }
    const auto n = static_cast<std::ptrdiff_t>(count);
    for (std::ptrdiff_t i = 0; i < n; ++i)
      target[i] = convert<To>(source[i * stride]);
  }
  static void store(const void* from, void* to, std::ptrdiff_t stride, std::size_t count) {
    const From* source = static_cast<const From*>(from);
    To* target = static_cast<To*>(to);
    if (stride == 1) return run_dense(source, target, count);
    const auto n = static_cast<std::ptrdiff_t>(count);
    for (std::ptrdiff_t i = 0; i < n; ++i)
      target[i * stride] = convert<To>(source[i]);
  }
};

constexpr std::size_t kDTypeLimit = 32;
constexpr std::size_t kComputes = 4;

template <typename Entry>
using Table = std::array<std::array<Entry, kComputes>, kDTypeLimit>;

template <typename T>
constexpr void fill_row(Table<LoadBlock>& loads, Table<StoreBlock>& stores, DType dtype) {
  auto& load = loads[static_cast<std::size_t>(dtype)];
  auto& store = stores[static_cast<std::size_t>(dtype)];
  load = {&Conversion<T, float>::load, &Conversion<T, double>::load, &Conversion<T, std::int64_t>::load,
          &Conversion<T, Flag>::load};
  store = {&Conversion<float, T>::store, &Conversion<double, T>::store, &Conversion<std::int64_t, T>::store,
           &Conversion<Flag, T>::store};
}

struct Tables {
  Table<LoadBlock> loads{};
  Table<StoreBlock> stores{};
};

constexpr Tables kTables = [] {
  Tables tables;
  fill_row<std::uint8_t>(tables.loads, tables.stores, DType::kUInt8);
  fill_row<std::int8_t>(tables.loads, tables.stores, DType::kInt8);
  fill_row<std::int16_t>(tables.loads, tables.stores, DType::kInt16);
  fill_row<std::int32_t>(tables.loads, tables.stores, DType::kInt32);
  fill_row<std::int64_t>(tables.loads, tables.stores, DType::kInt64);
  fill_row<std::uint16_t>(tables.loads, tables.stores, DType::kUInt16);
  fill_row<std::uint32_t>(tables.loads, tables.stores, DType::kUInt32);
  fill_row<std::uint64_t>(tables.loads, tables.stores, DType::kUInt64);
  fill_row<Half>(tables.loads, tables.stores, DType::kFloat16);
  fill_row<BFloat16>(tables.loads, tables.stores, DType::kBFloat16);
  fill_row<float>(tables.loads, tables.stores, DType::kFloat32);
  fill_row<double>(tables.loads, tables.stores, DType::kFloat64);
  fill_row<Flag>(tables.loads, tables.stores, DType::kBool);
  fill_row<ComplexOf<float>>(tables.loads, tables.stores, DType::kComplex64);
  fill_row<ComplexOf<double>>(tables.loads, tables.stores, DType::kComplex128);
  return tables;
}();

}  // namespace

LoadBlock load_block(DType from, Compute to) {
  return kTables.loads[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
}

StoreBlock store_block(Compute from, DType to) {
  return kTables.stores[static_cast<std::size_t>(to)][static_cast<std::size_t>(from)];
}

Element element_of(const Scalar& scalar, DType dtype) {
  Element element;
  if (scalar.is_double())
    store_one<double>(dtype, scalar.to_double(), element.bytes.data());
  else
    store_one<std::int64_t>(dtype, scalar.to_int(), element.bytes.data());
  return element;
}

void convert_elements(DType from, const void* source, DType to, void* destination, std::size_t count) {
  if (is_complex(from) && is_complex(to)) {
    return convert_elements(complex_part(from), source, complex_part(to), destination, 2 * count);
  }
  const Compute compute = !is_complex(from)    ? compute_of(from)
                          : to == DType::kBool ? Compute::kTruth
                                               : Compute::kDouble;
  const LoadBlock load = load_block(from, compute);
  const StoreBlock store = store_block(compute, to);
  const auto* read = static_cast<const std::byte*>(source);
  auto* write = static_cast<std::byte*>(destination);
  if (is_native(from, compute)) return store(read, write, 1, count);
  alignas(64) std::byte block[kBlock * 8];
  for (std::size_t done = 0; done < count; done += kBlock) {
    const std::size_t n = std::min(kBlock, count - done);
    load(read + done * dtype_size(from), 1, block, n);
    store(block, write + done * dtype_size(to), 1, n);
  }
}

}  // namespace pterun::operators
