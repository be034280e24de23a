// Names of a Value's alternatives.
#include "tensor/value.h"

#include <array>

namespace pterun {

std::string_view Value::kind_name() const {
  static constexpr std::array<std::string_view, std::variant_size_v<Payload>> kNames = {"None",
                                                                                        "Tensor",
                                                                                        "String",
                                                                                        "Double",
                                                                                        "Int",
                                                                                        "Bool",
                                                                                        "BoolList",
                                                                                        "DoubleList",
                                                                                        "IntList",
                                                                                        "TensorList",
                                                                                        "OptionalTensorList"};
  return kNames[payload_.index()];
}

}  // namespace pterun
