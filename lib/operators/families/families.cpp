// The list of families.
#include "operators/families/families.h"

namespace pterun::operators {

std::vector<std::span<const OperatorRow>> operator_families() {
  // One family a line, sorted, so that changes merge.
  // clang-format off
  return {
      activation_family(),
      arithmetic_family(),
      average_pool_family(),
      batch_norm_family(),
      choose_qparams_family(),
      comparison_family(),
      convolution_backward_family(),
      convolution_family(),
      copying_family(),
      creation_family(),
      delta_rule_family(),
      distances_family(),
      division_family(),
      embedding_family(),
      extrema_family(),
      fourier_family(),
      gathering_family(),
      grid_sampler_family(),
      hadamard_family(),
      indexing_family(),
      joining_family(),
      llama_family(),
      logic_family(),
      masking_family(),
      matmul_family(),
      max_pool_family(),
      mixed_matmul_family(),
      normalization_family(),
      padding_family(),
      power_family(),
      prim_family(),
      prim_tensor_family(),
      quantize_family(),
      quantized_embedding_family(),
      random_family(),
      reductions_family(),
      reorder_family(),
      reshape_family(),
      scans_family(),
      selection_family(),
      slicing_family(),
      softmax_family(),
      sorting_family(),
      unary_family(),
      upsample_family(),
      variance_family(),
  };
  // clang-format on
}

OperatorRegistry make_operator_registry() {
  OperatorRegistry registry;
  for (const std::span<const OperatorRow> family : operator_families())
    (void)registry.add(family);  // fails for an overload that is listed twice: a test looks for those
  return registry;
}

}  // namespace pterun::operators
