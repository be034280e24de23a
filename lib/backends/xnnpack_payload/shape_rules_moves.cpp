// Shapes of nodes that move elements: transpose, reshape, slice, pad, resize, concatenate.
#include <algorithm>

#include "backends/xnnpack_payload/shape_rule.h"

namespace pterun::xnnpack_payload {

Result<void> ShapeRule::transpose() {
  const auto& permutation = std::get<TransposeParams>(node_.params).permutation;
  const Shape& input = in(0);
  if (permutation.size() != input.rank()) return mismatch("the permutation has another number of dims", 0);
  std::array<bool, kMaxRank> seen{};
  Shape result;
  for (const std::uint32_t dim : permutation) {
    if (dim >= input.rank() || std::exchange(seen[dim], true)) return error("perm is not a permutation");
    result.push_back(input[dim]);
  }
  return set(result);
}

Result<void> ShapeRule::reshape() {
  const auto& sizes = std::get<ReshapeParams>(node_.params).shape;
  if (sizes.size() > kMaxRank) return error(fmt::format("new shape has {} dims", sizes.size()));
  Shape result;
  std::optional<std::size_t> inferred;
  for (const std::uint32_t size : sizes) {
    if (size == 0) {
      if (inferred) return error("two dims of the new shape are to be inferred");
      inferred = result.rank();
    }
    result.push_back(size == 0 ? 1 : size);
  }
  const auto known = checked_numel(result.span());
  const std::int64_t elements = in(0).numel();
  if (!known || (inferred ? elements % *known != 0 : elements != *known)) {
    return mismatch(fmt::format("does not fit into the new shape {}", fmt::join(sizes, "x")).c_str(), 0);
  }
  if (inferred) result[*inferred] = elements / *known;
  return set(result);
}

Result<void> ShapeRule::slice() {
  const auto& params = std::get<SliceParams>(node_.params);
  const Shape& input = in(0);
  if (params.offsets.size() != input.rank()) return mismatch("the slice has another number of dims", 0);
  Shape result;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    const std::int64_t begin = params.offsets[i];
    const std::int64_t end = begin + params.sizes[i];
    const std::int64_t stop = end == 0 ? input[i] : std::min<std::int64_t>(end, input[i]);
    result.push_back(std::max<std::int64_t>(stop - begin, 0));
  }
  return set(result);
}

Result<void> ShapeRule::pad() {
  const auto& params = std::get<PadParams>(node_.params);
  const Shape& input = in(0);
  if (params.before.size() != input.rank()) return mismatch("the padding has another number of dims", 0);
  Shape result;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    result.push_back(input[i] + params.before[i] + params.after[i]);
  }
  return set(result);
}

Result<void> ShapeRule::resize() {
  const auto& params = std::get<ResizeParams>(node_.params);
  const Shape& input = in(0);
  if (input.rank() != 4) return mismatch("needs NHWC with four dims", 0);
  if (params.height == 0 || params.width == 0) return error("its new size is zero");
  if (input[1] == 0 || input[2] == 0) return mismatch("has no pixels", 0);
  return set(Shape{input[0], params.height, params.width, input[3]});
}

Result<void> ShapeRule::concatenate() {
  const Shape& first = in(0);
  const auto rank = static_cast<std::int64_t>(first.rank());
  std::int64_t axis = std::get<ConcatenateParams>(node_.params).axis;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return mismatch("the axis does not exist", 0);
  const auto along = static_cast<std::size_t>(axis);
  Shape result = first;
  for (std::size_t i = 1; i < node_.num_inputs; ++i) {
    bool fits = in(i).rank() == first.rank();
    for (std::size_t d = 0; fits && d < first.rank(); ++d)
      fits = d == along || in(i)[d] == first[d];
    if (!fits) {
      return error(
          fmt::format("shapes {} and {} cannot be joined along dim {}", first.to_string(), in(i).to_string(), axis));
    }
    result[along] += in(i)[along];
  }
  return set(result);
}

}  // namespace pterun::xnnpack_payload
