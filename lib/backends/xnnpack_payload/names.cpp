// Names and sizes of the payload's types and node kinds.
#include <array>

#include "backends/xnnpack_payload/graph.h"
#include "base/checked.h"

namespace pterun::xnnpack_payload {

std::string_view data_type_name(DataType type) {
  switch (type) {
    case DataType::kInvalid: return "invalid";
    case DataType::kFp32: return "fp32";
    case DataType::kFp16: return "fp16";
    case DataType::kQint8: return "qint8";
    case DataType::kQuint8: return "quint8";
    case DataType::kQint32: return "qint32";
    case DataType::kQcint8: return "qcint8";
    case DataType::kQcint32: return "qcint32";
    case DataType::kQcint4: return "qcint4";
    case DataType::kQdint8: return "qdint8";
    case DataType::kQbint4: return "qbint4";
    case DataType::kQpint8: return "qpint8";
    case DataType::kInt32: return "int32";
    case DataType::kPfp32: return "pfp32";
    case DataType::kBf16: return "bf16";
  }
  return "unknown";
}

std::size_t data_type_bits(DataType type) {
  switch (type) {
    case DataType::kQcint4:
    case DataType::kQbint4: return 4;
    case DataType::kInvalid:
    case DataType::kQint8:
    case DataType::kQuint8:
    case DataType::kQcint8:
    case DataType::kQdint8:
    case DataType::kQpint8: return 8;
    case DataType::kFp16:
    case DataType::kBf16: return 16;
    case DataType::kFp32:
    case DataType::kQint32:
    case DataType::kQcint32:
    case DataType::kInt32:
    case DataType::kPfp32: return 32;
  }
  return 8;
}

std::string_view node_kind_name(NodeKind kind) {
  static constexpr std::array<std::string_view, kNodeKinds> kNames = {
      "none",
      "Add",
      "FullyConnected",
      "Softmax",
      "Sigmoid",
      "StaticTranspose",
      "Clamp",
      "Conv2d",
      "Div",
      "StaticResizeBilinear2D",
      "StaticConstantPad",
      "AvgPooling2d",
      "Minimum",
      "DepthwiseConv2d",
      "MaxPooling2d",
      "Multiply",
      "Subtract",
      "Floor",
      "Convert",
      "GlobalAvgPooling2d",
      "StaticReshape",
      "ArgMaxPooling2d",
      "SquareRoot",
      "Ceiling",
      "Hardswish",
      "LeakyReLU",
      "Maximum",
      "Negate",
      "Square",
      "ELU",
      "Abs",
      "PReLU",
      "Concatenate2",
      "Concatenate3",
      "Concatenate4",
      "StaticSlice",
      "ScaledDotProductAttention",
      "BatchMatrixMultiply",
      "Concatenate5",
      "ConvTranspose2d",
      "ReciprocalSquareRoot",
      "Log",
      "Gelu",
      "Tanh",
      "Exp",
      "Sin",
      "Copy",
      "Cos",
  };
  const auto index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames[index] : "unknown";
}

std::optional<std::uint64_t> constant_bytes(DataType type, const Shape& dims) {
  std::uint64_t rows = 1;
  for (std::size_t i = 0; i + 1 < dims.rank(); ++i) {
    const auto product = checked_mul(rows, static_cast<std::uint64_t>(dims[i]));
    if (!product) return std::nullopt;
    rows = *product;
  }
  const auto last = dims.rank() == 0 ? std::uint64_t{1} : static_cast<std::uint64_t>(dims[dims.rank() - 1]);
  const auto bits = checked_mul(last, static_cast<std::uint64_t>(data_type_bits(type)));
  if (!bits) return std::nullopt;
  return checked_mul(rows, *bits / 8 + (*bits % 8 != 0 ? 1 : 0));
}

}  // namespace pterun::xnnpack_payload
