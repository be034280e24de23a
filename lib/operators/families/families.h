// The explicit list of operator families: one function a family, each returning its table of overloads.
#pragma once

#include <span>

#include "operators/operator.h"

namespace pterun::operators {

// A registry with every family below.
OperatorRegistry make_operator_registry();

// One result an element.
std::span<const OperatorRow> activation_family();
std::span<const OperatorRow> arithmetic_family();
std::span<const OperatorRow> comparison_family();
std::span<const OperatorRow> division_family();
std::span<const OperatorRow> logic_family();
std::span<const OperatorRow> power_family();
std::span<const OperatorRow> selection_family();
std::span<const OperatorRow> unary_family();
// Copies and conversions, tensors made from numbers.
std::span<const OperatorRow> copying_family();
std::span<const OperatorRow> creation_family();
// Numbers, views and loops.
std::span<const OperatorRow> prim_family();
std::span<const OperatorRow> prim_tensor_family();
// Moves of elements.
std::span<const OperatorRow> gathering_family();
std::span<const OperatorRow> indexing_family();
std::span<const OperatorRow> joining_family();
std::span<const OperatorRow> masking_family();
std::span<const OperatorRow> padding_family();
std::span<const OperatorRow> reorder_family();
std::span<const OperatorRow> reshape_family();
std::span<const OperatorRow> slicing_family();
// Reductions.
std::span<const OperatorRow> distances_family();  // cdist, pdist, allclose
std::span<const OperatorRow> extrema_family();
std::span<const OperatorRow> reductions_family();
std::span<const OperatorRow> scans_family();
std::span<const OperatorRow> sorting_family();
std::span<const OperatorRow> variance_family();
// Neural-network layers.
std::span<const OperatorRow> average_pool_family();
std::span<const OperatorRow> batch_norm_family();
std::span<const OperatorRow> convolution_backward_family();
std::span<const OperatorRow> convolution_family();
std::span<const OperatorRow> embedding_family();
std::span<const OperatorRow> max_pool_family();
std::span<const OperatorRow> matmul_family();  // mm, bmm, addmm, linear
std::span<const OperatorRow> upsample_family();
std::span<const OperatorRow> grid_sampler_family();
std::span<const OperatorRow> random_family();
std::span<const OperatorRow> quantize_family();
std::span<const OperatorRow> choose_qparams_family();
std::span<const OperatorRow> quantized_embedding_family();
std::span<const OperatorRow> mixed_matmul_family();
std::span<const OperatorRow> fourier_family();
std::span<const OperatorRow> llama_family();
std::span<const OperatorRow> hadamard_family();
std::span<const OperatorRow> softmax_family();        // _softmax, _log_softmax, glu
std::span<const OperatorRow> normalization_family();  // layer norm, group norm

}  // namespace pterun::operators
