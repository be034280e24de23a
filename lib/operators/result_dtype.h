// The dtype of a result where exporters declare another one than eager gives.
#pragma once

#include <optional>
#include <string_view>

#include "operators/arguments.h"

namespace pterun::operators {

// What eager makes of the call's last argument, for operators that exporters are known to declare wrongly; none for
// all others. The shape function of quantized_decomposed::embedding_2bit and _4bit (executorch 1.5: exir/passes) looks
// into a new torch.nn.Embedding, so that every program says float32, while eager gives the dtype of the scales.
std::optional<DType> eager_result_dtype(std::string_view operator_name, const Arguments& arguments);

}  // namespace pterun::operators
