// Results that exporters declare in another dtype than eager gives.
#include "operators/result_dtype.h"

#include <algorithm>
#include <array>

namespace pterun::operators {
namespace {

constexpr std::array<std::string_view, 2> kLikeTheirScales = {
    "quantized_decomposed::embedding_2bit.out",
    "quantized_decomposed::embedding_4bit.out",
};

}  // namespace

std::optional<DType> eager_result_dtype(std::string_view operator_name, const Arguments& arguments) {
  if (std::ranges::find(kLikeTheirScales, operator_name) == kLikeTheirScales.end()) return std::nullopt;
  const auto scales = arguments.tensor(1);
  if (!scales) return std::nullopt;
  return (*scales)->dtype();
}

}  // namespace pterun::operators
