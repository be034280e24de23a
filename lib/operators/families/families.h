// The explicit list of operator families: one function a family, each returning its table of overloads.
#pragma once

#include <span>

#include "operators/operator.h"

namespace pterun::operators {

// A registry with every family below.
OperatorRegistry make_operator_registry();

std::span<const OperatorRow> arithmetic_family();  // add, sub, rsub, mul, div, floor_divide, fmod, remainder, …
// Moves of elements.
std::span<const OperatorRow> gathering_family();
std::span<const OperatorRow> indexing_family();
std::span<const OperatorRow> joining_family();
std::span<const OperatorRow> masking_family();
std::span<const OperatorRow> reorder_family();
std::span<const OperatorRow> reshape_family();
std::span<const OperatorRow> slicing_family();
// Reductions.
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
std::span<const OperatorRow> matmul_family();         // mm, bmm, addmm, linear
std::span<const OperatorRow> normalization_family();  // layer norm, group norm

}  // namespace pterun::operators
