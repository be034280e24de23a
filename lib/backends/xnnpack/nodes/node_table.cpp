// The table of node kinds.
#include "backends/xnnpack/nodes/node_table.h"

#include <array>

namespace pterun::backends::xnn {
namespace {

constexpr NodeRow kRows[] = {
    {NodeKind::kAdd, define_binary},
    {NodeKind::kSubtract, define_binary},
    {NodeKind::kMultiply, define_binary},
    {NodeKind::kDiv, define_binary},
    {NodeKind::kMinimum, define_binary},
    {NodeKind::kMaximum, define_binary},
    {NodeKind::kPReLU, define_binary},
    {NodeKind::kSigmoid, define_unary},
    {NodeKind::kClamp, define_unary},
    {NodeKind::kFloor, define_unary},
    {NodeKind::kSquareRoot, define_unary},
    {NodeKind::kCeiling, define_unary},
    {NodeKind::kHardswish, define_unary},
    {NodeKind::kLeakyReLU, define_unary},
    {NodeKind::kNegate, define_unary},
    {NodeKind::kSquare, define_unary},
    {NodeKind::kELU, define_unary},
    {NodeKind::kAbs, define_unary},
    {NodeKind::kReciprocalSquareRoot, define_unary},
    {NodeKind::kLog, define_unary},
    {NodeKind::kGelu, define_unary},
    {NodeKind::kTanh, define_unary},
    {NodeKind::kExp, define_unary},
    {NodeKind::kSin, define_unary},
    {NodeKind::kCos, define_unary},
    {NodeKind::kConvert, define_convert},
    {NodeKind::kFullyConnected, define_fully_connected, true},
    {NodeKind::kConv2d, define_convolution, true},
    {NodeKind::kDepthwiseConv2d, define_depthwise_convolution, true},
    {NodeKind::kConvTranspose2d, define_transposed_convolution, true},
    {NodeKind::kAvgPooling2d, define_average_pooling},
    {NodeKind::kMaxPooling2d, define_max_pooling},
    {NodeKind::kArgMaxPooling2d, define_argmax_pooling},
    {NodeKind::kGlobalAvgPooling2d, define_global_average_pooling},
    {NodeKind::kSoftmax, define_softmax},
    {NodeKind::kBatchMatrixMultiply, define_batch_matmul},
    {NodeKind::kStaticResizeBilinear2D, define_resize},
    {NodeKind::kStaticTranspose, define_transpose},
    {NodeKind::kStaticReshape, define_reshape},
    {NodeKind::kStaticSlice, define_slice},
    {NodeKind::kStaticConstantPad, define_pad},
    {NodeKind::kConcatenate2, define_concatenate},
    {NodeKind::kConcatenate3, define_concatenate},
    {NodeKind::kConcatenate4, define_concatenate},
    {NodeKind::kConcatenate5, define_concatenate},
    {NodeKind::kCopy, define_copy},
};

}  // namespace

const NodeRow* find_node_row(NodeKind kind) {
  static constexpr auto kByKind = [] {
    std::array<const NodeRow*, xnnpack_payload::kNodeKinds> rows{};
    for (const NodeRow& row : kRows)
      rows[static_cast<std::size_t>(row.kind)] = &row;
    return rows;
  }();
  return kByKind[static_cast<std::size_t>(kind)];
}

}  // namespace pterun::backends::xnn
