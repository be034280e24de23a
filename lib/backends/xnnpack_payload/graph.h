// An XNNPACK delegate's payload as plain structs: what an exporter wrote, checked (payload_reader.h), before any
// library sees it. Values are named by their index here, not by the ids of the file. All borrowed bytes and names
// point into the payload or the program's named data and live as long as those.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

namespace pterun::xnnpack_payload {

// Element types by the payload schema's numbers (which are not those of xnnpack.h).
enum class DataType : std::uint8_t {
  kInvalid = 0,
  kFp32 = 1,
  kFp16 = 2,
  kQint8 = 3,
  kQuint8 = 4,
  kQint32 = 5,
  kQcint8 = 6,
  kQcint32 = 7,
  kQcint4 = 8,
  kQdint8 = 9,
  kQbint4 = 10,
  kQpint8 = 11,
  kInt32 = 12,
  kPfp32 = 13,
  kBf16 = 14,
};

// "fp32", "qcint8", … as in xnnpack.h.
std::string_view data_type_name(DataType type);
// Bits of one element: 4, 8, 16 or 32.
std::size_t data_type_bits(DataType type);

// Node kinds by the payload schema's union tags.
enum class NodeKind : std::uint8_t {
  kAdd = 1,
  kFullyConnected = 2,
  kSoftmax = 3,
  kSigmoid = 4,
  kStaticTranspose = 5,
  kClamp = 6,
  kConv2d = 7,
  kDiv = 8,
  kStaticResizeBilinear2D = 9,
  kStaticConstantPad = 10,
  kAvgPooling2d = 11,
  kMinimum = 12,
  kDepthwiseConv2d = 13,
  kMaxPooling2d = 14,
  kMultiply = 15,
  kSubtract = 16,
  kFloor = 17,
  kConvert = 18,
  kGlobalAvgPooling2d = 19,
  kStaticReshape = 20,
  kArgMaxPooling2d = 21,
  kSquareRoot = 22,
  kCeiling = 23,
  kHardswish = 24,
  kLeakyReLU = 25,
  kMaximum = 26,
  kNegate = 27,
  kSquare = 28,
  kELU = 29,
  kAbs = 30,
  kPReLU = 31,
  kConcatenate2 = 32,
  kConcatenate3 = 33,
  kConcatenate4 = 34,
  kStaticSlice = 35,
  kScaledDotProductAttention = 36,
  kBatchMatrixMultiply = 37,
  kConcatenate5 = 38,
  kConvTranspose2d = 39,
  kReciprocalSquareRoot = 40,
  kLog = 41,
  kGelu = 42,
  kTanh = 43,
  kExp = 44,
  kSin = 45,
  kCopy = 46,
  kCos = 47,
};

inline constexpr std::size_t kNodeKinds = 48;  // tags 0 … 47; 0 is none

// "Conv2d", "FullyConnected", …
std::string_view node_kind_name(NodeKind kind);

// Node flags, with xnnpack.h's values.
inline constexpr std::uint32_t kFlagTransposeWeights =
    0x01;                                                 // FullyConnected: filter is [in, out]; matmul: b is [n, k]
inline constexpr std::uint32_t kFlagReshape2d = 0x04;     // FullyConnected: input is flattened to two dims
inline constexpr std::uint32_t kFlagSamePadding = 0x04;   // convolution, pooling: TensorFlow's "SAME"
inline constexpr std::uint32_t kFlagLegacyResize = 0x04;  // resize: TensorFlow 1
inline constexpr std::uint32_t kFlagAlignCorners = 0x08;  // resize
inline constexpr std::uint32_t kFlagKeepDims = 0x40;      // reductions

// real = scale * (stored - zero_point).
struct PerTensorQuantization {
  float scale = 1.0f;
  std::int32_t zero_point = 0;
};

// One scale per index of dimension `channel_dim`; scales.size() is that dimension's size. zero_point is 8 for qcint4
// (nibbles are stored as value + 8), else 0.
struct PerChannelQuantization {
  std::vector<float> scales;
  std::uint32_t channel_dim = 0;
  std::int32_t zero_point = 0;
  std::string_view scales_key;  // of the named data that the scales came from; may be empty
};

// qbint4: rank 2, [out, in]; scales[o * (in / block_size) + i / block_size] belongs to element [o, i]. block_size
// divides `in`.
struct PerBlockQuantization {
  std::vector<BFloat16> scales;
  std::uint32_t block_size = 0;
  std::int32_t zero_point = 8;
  std::string_view scales_key;
};

// qdint8: scale and zero point are computed at run time, one pair per batch item; the last `num_nonbatch_dims`
// dimensions form one item.
struct DynamicQuantization {
  std::uint32_t num_nonbatch_dims = 1;
};

using Quantization = std::variant<std::monostate, PerTensorQuantization, PerChannelQuantization, PerBlockQuantization,
                                  DynamicQuantization>;

using ValueIndex = std::uint32_t;
inline constexpr ValueIndex kNoValue = std::numeric_limits<ValueIndex>::max();

struct Value {
  std::uint32_t id = 0;  // the file's id_out, for messages
  DataType type = DataType::kInvalid;
  Shape dims;  // of external inputs with dynamic shapes: the upper bound
  Quantization quantization;

  bool is_constant = false;
  Bytes data;            // of a constant: exactly constant_bytes(type, dims), at any alignment
  std::string_view key;  // of a constant from named data; empty when it lies in the payload

  bool is_input = false;  // external: comes in with the delegate call
  bool is_output = false;
  std::uint32_t external_id = 0;  // of an input or output: index into the delegate call's arguments

  bool is_external() const { return is_input || is_output; }
  template <typename T>
  const T* quantized_as() const {
    return std::get_if<T>(&quantization);
  }
};

// Bytes that a dense constant of that type and shape takes; 4-bit rows (last dimension) start at whole bytes.
// nullopt on overflow.
std::optional<std::uint64_t> constant_bytes(DataType type, const Shape& dims);

// Bounds that the result is clamped to.
struct OutputRange {
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
  bool is_unbounded() const {
    return min == -std::numeric_limits<float>::infinity() && max == std::numeric_limits<float>::infinity();
  }
};

// Conv2d, DepthwiseConv2d, ConvTranspose2d. Activations are NHWC. Filters: Conv2d [groups * out, kh, kw, in],
// ConvTranspose2d the same, DepthwiseConv2d [1, kh, kw, groups * multiplier], with in and out per group.
struct ConvolutionParams {
  std::uint32_t pad_top = 0, pad_right = 0, pad_bottom = 0, pad_left = 0;
  std::uint32_t kernel_height = 0, kernel_width = 0;
  std::uint32_t stride_height = 0, stride_width = 0;  // of ConvTranspose2d: the upsampling
  std::uint32_t dilation_height = 0, dilation_width = 0;
  std::uint32_t groups = 0;
  std::uint32_t group_input_channels = 0, group_output_channels = 0;
  std::uint32_t adjust_height = 0, adjust_width = 0;  // ConvTranspose2d: rows and columns added to the output
};

// AvgPooling2d (padding is not counted), MaxPooling2d, ArgMaxPooling2d (stride = window). NHWC.
struct PoolingParams {
  std::uint32_t pad_top = 0, pad_right = 0, pad_bottom = 0, pad_left = 0;
  std::uint32_t window_height = 0, window_width = 0;
  std::uint32_t stride_height = 0, stride_width = 0;
  std::uint32_t dilation_height = 1, dilation_width = 1;
};

struct TransposeParams {
  std::vector<std::uint32_t> permutation;
};  // output dim i is input dim permutation[i]
struct ReshapeParams {
  std::vector<std::uint32_t> shape;
};  // at most one 0: inferred
// Output dim i is input[offsets[i] … offsets[i] + sizes[i]), cut off at the input's end; offset and size 0: all of it.
struct SliceParams {
  std::vector<std::uint32_t> offsets, sizes;
};
struct PadParams {
  std::vector<std::uint32_t> before, after;
  float value = 0.0f;
};
struct ResizeParams {
  std::uint32_t height = 0, width = 0;
};
struct ConcatenateParams {
  std::int32_t axis = 0;
};  // may be negative
struct SlopeParams {
  float slope = 0.0f;
};  // LeakyReLU: negative slope; ELU: alpha

using NodeParams = std::variant<std::monostate, ConvolutionParams, PoolingParams, TransposeParams, ReshapeParams,
                                SliceParams, PadParams, ResizeParams, ConcatenateParams, SlopeParams>;

// One node. Its params alternative is the one its kind needs: reading it with std::get cannot fail.
// Inputs by kind: one; two for binary kinds, PReLU (input, slope) and BatchMatrixMultiply (a, b); input, filter and
// bias (or kNoValue) for FullyConnected and convolutions; N for ConcatenateN; query, key, value, scale and mask for
// ScaledDotProductAttention. Outputs: one; ArgMaxPooling2d has value and index.
struct Node {
  NodeKind kind = NodeKind::kAdd;
  std::uint32_t flags = 0;
  std::uint32_t debug_handle = 0;
  OutputRange range;
  std::array<ValueIndex, 5> inputs{kNoValue, kNoValue, kNoValue, kNoValue, kNoValue};
  std::array<ValueIndex, 2> outputs{kNoValue, kNoValue};
  std::uint8_t num_inputs = 0;
  std::uint8_t num_outputs = 0;
  NodeParams params;
  // Index in the file's node list; kNoValue for one that the reader added for an old payload's dq_datatype.
  std::uint32_t file_index = 0;

  std::span<const ValueIndex> input_ids() const { return {inputs.data(), num_inputs}; }
  std::span<const ValueIndex> output_ids() const { return {outputs.data(), num_outputs}; }
};

// Nodes stand in an order in which every value is written before it is read, and no value is written twice.
struct PayloadGraph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::uint32_t num_externs = 0;  // external ids lie below it
  // Values by role, ordered by external id.
  std::vector<ValueIndex> inputs;
  std::vector<ValueIndex> outputs;
  // The flatbuffer, when the payload lay at an address that it cannot be read at; names point into it.
  AlignedBuffer aligned_copy;
};

}  // namespace pterun::xnnpack_payload
