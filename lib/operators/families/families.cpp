// Registers every family. Two families with the same overload would be a bug that the registry's test finds.
#include "operators/families/families.h"

namespace pterun::operators {

OperatorRegistry make_operator_registry() {
  // One a line.
  // clang-format off
  const std::span<const OperatorRow> families[] = {
      arithmetic_family(),
      average_pool_family(),
      batch_norm_family(),
      convolution_backward_family(),
      convolution_family(),
      embedding_family(),
      extrema_family(),
      joining_family(),
      matmul_family(),
      max_pool_family(),
      normalization_family(),
      reductions_family(),
      reorder_family(),
      reshape_family(),
      scans_family(),
      slicing_family(),
      sorting_family(),
      variance_family(),
  };
  // clang-format on
  OperatorRegistry registry;
  for (const std::span<const OperatorRow> family : families)
    (void)registry.add(family);
  return registry;
}

}  // namespace pterun::operators
