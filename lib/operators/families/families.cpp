// Registers every family. Two families with the same overload would be a bug that the registry's test finds.
#include "operators/families/families.h"

#include <initializer_list>

namespace pterun::operators {

OperatorRegistry make_operator_registry() {
  OperatorRegistry registry;
  for (const std::span<const OperatorRow> family : std::initializer_list<std::span<const OperatorRow>>{}) {
    (void)registry.add(family);
  }
  return registry;
}

}  // namespace pterun::operators
