// The table behind the dtype queries.
#include "tensor/dtype.h"

#include <array>

namespace pterun {
namespace {

struct Entry {
  DType dtype;
  std::uint8_t size;
  std::string_view name;
};

constexpr std::array kEntries = {
    Entry{DType::kUInt8, 1, "uint8"},
    Entry{DType::kInt8, 1, "int8"},
    Entry{DType::kInt16, 2, "int16"},
    Entry{DType::kInt32, 4, "int32"},
    Entry{DType::kInt64, 8, "int64"},
    Entry{DType::kFloat16, 2, "float16"},
    Entry{DType::kFloat32, 4, "float32"},
    Entry{DType::kFloat64, 8, "float64"},
    Entry{DType::kComplex64, 8, "complex64"},
    Entry{DType::kComplex128, 16, "complex128"},
    Entry{DType::kBool, 1, "bool"},
    Entry{DType::kQInt8, 1, "qint8"},
    Entry{DType::kQUInt8, 1, "quint8"},
    Entry{DType::kQInt32, 4, "qint32"},
    Entry{DType::kBFloat16, 2, "bfloat16"},
    Entry{DType::kQUInt4x2, 1, "quint4x2"},
    Entry{DType::kQUInt2x4, 1, "quint2x4"},
    Entry{DType::kBits16, 2, "bits16"},
    Entry{DType::kFloat8E5M2, 1, "float8_e5m2"},
    Entry{DType::kFloat8E4M3FN, 1, "float8_e4m3fn"},
    Entry{DType::kFloat8E5M2FNUZ, 1, "float8_e5m2fnuz"},
    Entry{DType::kFloat8E4M3FNUZ, 1, "float8_e4m3fnuz"},
    Entry{DType::kUInt16, 2, "uint16"},
    Entry{DType::kUInt32, 4, "uint32"},
    Entry{DType::kUInt64, 8, "uint64"},
};

constexpr std::size_t kNumberLimit = 30;

constexpr std::array<std::int8_t, kNumberLimit> kIndexOfNumber = [] {
  std::array<std::int8_t, kNumberLimit> index{};
  index.fill(-1);
  for (std::size_t i = 0; i < kEntries.size(); ++i) {
    index[static_cast<std::size_t>(kEntries[i].dtype)] = static_cast<std::int8_t>(i);
  }
  return index;
}();

const Entry& entry(DType dtype) {
  return kEntries[static_cast<std::size_t>(kIndexOfNumber[static_cast<std::size_t>(dtype)])];
}

}  // namespace

std::optional<DType> dtype_from_number(int number) {
  if (number < 0 || number >= static_cast<int>(kNumberLimit)) return std::nullopt;
  if (kIndexOfNumber[static_cast<std::size_t>(number)] < 0) return std::nullopt;
  return static_cast<DType>(number);
}

std::size_t dtype_size(DType dtype) {
  return entry(dtype).size;
}

std::string_view dtype_name(DType dtype) {
  return entry(dtype).name;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Entry& candidate : kEntries) {
    if (candidate.name == name) return candidate.dtype;
  }
  return std::nullopt;
}

}  // namespace pterun
