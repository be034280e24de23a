// Registers every family. Two families with the same overload would be a bug that the registry's test finds.
#include "operators/families/families.h"

namespace pterun::operators {

OperatorRegistry make_operator_registry() {
  // One family a line, sorted, so that changes merge.
  // clang-format off
  const std::span<const OperatorRow> families[] = {
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
      sorting_family(),
      unary_family(),
      variance_family(),
  };
  // clang-format on
  OperatorRegistry registry;
  for (const std::span<const OperatorRow> family : families)
    (void)registry.add(family);
  return registry;
}

}  // namespace pterun::operators
