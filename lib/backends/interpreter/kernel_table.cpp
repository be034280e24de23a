// The explicit table from node kinds to kernels.
#include <array>

#include "backends/interpreter/kernels.h"

namespace pterun::backends::interpreter {
namespace {

using xnnpack_payload::NodeKind;

struct Row {
  NodeKind kind;
  NodeKernel kernel;
};

constexpr std::array kTable = {
    Row{NodeKind::kAbs, &run_unary},
    Row{NodeKind::kAdd, &run_binary},
    Row{NodeKind::kArgMaxPooling2d, &run_pooling},
    Row{NodeKind::kAvgPooling2d, &run_pooling},
    Row{NodeKind::kBatchMatrixMultiply, &run_batch_matmul},
    Row{NodeKind::kCeiling, &run_unary},
    Row{NodeKind::kClamp, &run_unary},
    Row{NodeKind::kConcatenate2, &run_concatenate},
    Row{NodeKind::kConcatenate3, &run_concatenate},
    Row{NodeKind::kConcatenate4, &run_concatenate},
    Row{NodeKind::kConcatenate5, &run_concatenate},
    Row{NodeKind::kConv2d, &run_convolution},
    Row{NodeKind::kConvTranspose2d, &run_transposed_convolution},
    Row{NodeKind::kConvert, &run_copy},
    Row{NodeKind::kCopy, &run_copy},
    Row{NodeKind::kCos, &run_unary},
    Row{NodeKind::kDepthwiseConv2d, &run_convolution},
    Row{NodeKind::kDiv, &run_binary},
    Row{NodeKind::kELU, &run_unary},
    Row{NodeKind::kExp, &run_unary},
    Row{NodeKind::kFloor, &run_unary},
    Row{NodeKind::kFullyConnected, &run_fully_connected},
    Row{NodeKind::kGelu, &run_unary},
    Row{NodeKind::kGlobalAvgPooling2d, &run_global_average},
    Row{NodeKind::kHardswish, &run_unary},
    Row{NodeKind::kLeakyReLU, &run_unary},
    Row{NodeKind::kLog, &run_unary},
    Row{NodeKind::kMaxPooling2d, &run_pooling},
    Row{NodeKind::kMaximum, &run_binary},
    Row{NodeKind::kMinimum, &run_binary},
    Row{NodeKind::kMultiply, &run_binary},
    Row{NodeKind::kNegate, &run_unary},
    Row{NodeKind::kPReLU, &run_prelu},
    Row{NodeKind::kReciprocalSquareRoot, &run_unary},
    Row{NodeKind::kSigmoid, &run_unary},
    Row{NodeKind::kSin, &run_unary},
    Row{NodeKind::kSoftmax, &run_softmax},
    Row{NodeKind::kSquare, &run_unary},
    Row{NodeKind::kSquareRoot, &run_unary},
    Row{NodeKind::kStaticConstantPad, &run_pad},
    Row{NodeKind::kStaticReshape, &run_copy},
    Row{NodeKind::kStaticResizeBilinear2D, &run_resize},
    Row{NodeKind::kStaticSlice, &run_slice},
    Row{NodeKind::kStaticTranspose, &run_transpose},
    Row{NodeKind::kSubtract, &run_binary},
    Row{NodeKind::kTanh, &run_unary},
};

}  // namespace

NodeKernel kernel_of(NodeKind kind) {
  for (const Row& row : kTable) {
    if (row.kind == kind) return row.kernel;
  }
  return nullptr;
}

}  // namespace pterun::backends::interpreter
