// The explicit list of operator families: one function a family, each returning its table of overloads.
#pragma once

#include <span>
#include <vector>

#include "operators/operator.h"

// A start calls all of them: they stand side by side in the program, so that this maps one piece of it and not a piece
// of every family, which would be a megabyte of resident memory.
#if defined(__ELF__)
#define PTERUN_STARTUP_CODE [[gnu::section(".text.startup")]]
#else
#define PTERUN_STARTUP_CODE
#endif

namespace pterun::operators {

// Every family below.
std::vector<std::span<const OperatorRow>> operator_families();

// A registry with every family below.
OperatorRegistry make_operator_registry();

// One result an element.
PTERUN_STARTUP_CODE std::span<const OperatorRow> activation_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> arithmetic_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> comparison_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> division_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> logic_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> power_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> selection_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> unary_family();
// Copies and conversions, tensors made from numbers.
PTERUN_STARTUP_CODE std::span<const OperatorRow> copying_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> creation_family();
// Numbers, views and loops.
PTERUN_STARTUP_CODE std::span<const OperatorRow> prim_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> prim_tensor_family();
// Moves of elements.
PTERUN_STARTUP_CODE std::span<const OperatorRow> gathering_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> indexing_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> joining_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> masking_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> padding_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> reorder_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> reshape_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> slicing_family();
// Reductions.
PTERUN_STARTUP_CODE std::span<const OperatorRow> distances_family();  // cdist, pdist, allclose
PTERUN_STARTUP_CODE std::span<const OperatorRow> extrema_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> reductions_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> scans_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> sorting_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> variance_family();
// Neural-network layers.
PTERUN_STARTUP_CODE std::span<const OperatorRow> average_pool_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> batch_norm_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> convolution_backward_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> convolution_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> embedding_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> max_pool_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> matmul_family();  // mm, bmm, addmm, linear
PTERUN_STARTUP_CODE std::span<const OperatorRow> upsample_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> grid_sampler_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> random_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> quantize_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> choose_qparams_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> quantized_embedding_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> mixed_matmul_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> fourier_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> llama_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> hadamard_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> delta_rule_family();
PTERUN_STARTUP_CODE std::span<const OperatorRow> softmax_family();        // _softmax, _log_softmax, glu
PTERUN_STARTUP_CODE std::span<const OperatorRow> normalization_family();  // layer norm, group norm

}  // namespace pterun::operators
