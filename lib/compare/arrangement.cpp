// An arrangement is read by counting like an odometer; single elements are found by dividing.
#include "compare/arrangement.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "compare/element_reader.h"

namespace pterun::compare {
namespace {

constexpr std::size_t kMaxPermuted = 5;  // dimensions above 1: 120 orders
constexpr std::int64_t kSamples = 24;

Shape without_ones(const Shape& shape) {
  Shape result;
  for (const std::int64_t size : shape)
    if (size != 1) result.push_back(size);
  return result;
}

// Calls `visit(position, index)` with the place of every element in the result and in the reference, until it is false.
template <typename Visit>
void walk(const Arrangement& arrangement, Visit&& visit) {
  const std::int64_t count = arrangement.sizes.numel();
  if (count == 0) return;
  const std::size_t rank = arrangement.sizes.rank();
  Shape at = Shape::filled(rank, 0);
  std::int64_t index = 0;
  for (std::int64_t position = 0;;) {
    if (!visit(position, index)) return;
    if (++position == count) return;
    for (std::size_t dim = rank; dim-- > 0;) {
      index += arrangement.strides[dim];
      if (++at[dim] < arrangement.sizes[dim]) break;
      index -= arrangement.strides[dim] * arrangement.sizes[dim];
      at[dim] = 0;
    }
  }
}

std::int64_t index_of(const Arrangement& arrangement, std::int64_t position) {
  std::int64_t index = 0;
  for (std::size_t dim = arrangement.sizes.rank(); dim-- > 0;) {
    index += position % arrangement.sizes[dim] * arrangement.strides[dim];
    position /= arrangement.sizes[dim];
  }
  return index;
}

bool samples_agree(std::span<const double> result, const ElementReader& reader, const Arrangement& arrangement,
                   double allowed) {
  const auto count = static_cast<std::int64_t>(result.size());
  const std::int64_t samples = std::min(count, kSamples);
  for (std::int64_t i = 0; i < samples; ++i) {
    // Not at one place of every row: the spread is no whole number of steps.
    const std::int64_t position = count <= kSamples ? i : (i * (count / samples) + i * i) % count;
    const double error =
        element_error(result[static_cast<std::size_t>(position)], reader.at(index_of(arrangement, position)));
    if (error > allowed) return false;
  }
  return true;
}

}  // namespace

std::vector<Arrangement> arrangements(const Shape& result, const Shape& reference) {
  if (result.numel() != reference.numel()) return {};
  const Shape sizes = without_ones(reference);
  const Shape wanted = without_ones(result);
  const std::size_t rank = sizes.rank();
  const Strides strides = strides_of(sizes, DimOrder::contiguous(rank));
  std::vector<Arrangement> found = {{sizes, strides, true}};
  if (rank != wanted.rank() || rank < 2 || rank > kMaxPermuted) return found;
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  while (std::next_permutation(order.begin(), order.end())) {
    Arrangement arrangement{{}, {}, false};
    for (const std::size_t dim : order) {
      arrangement.sizes.push_back(sizes[dim]);
      arrangement.strides.push_back(strides[dim]);
    }
    if (arrangement.sizes == wanted) found.push_back(arrangement);
  }
  return found;
}

Difference difference(std::span<const double> result, const Tensor& reference, const Arrangement& arrangement) {
  const ElementReader reader(reference);
  Difference found;
  double squares = 0;
  std::int64_t finite = 0;
  walk(arrangement, [&](std::int64_t position, std::int64_t index) {
    const double error = element_error(result[static_cast<std::size_t>(position)], reader.at(index));
    found.max_abs = std::max(found.max_abs, error);
    if (std::isfinite(error)) {
      squares += error * error;
      ++finite;
    }
    return true;
  });
  if (finite > 0) found.rmse = std::sqrt(squares / static_cast<double>(finite));
  return found;
}

Closest closest(std::span<const double> result, const Tensor& reference, std::span<const Arrangement> choices) {
  Closest best{choices.front(), difference(result, reference, choices.front())};
  for (const Arrangement& choice : choices.subspan(1)) {
    const Difference found = difference(result, reference, choice);
    if (found.rmse < best.difference.rmse) best = {choice, found};
  }
  return best;
}

std::optional<Agreement> agreement(std::span<const double> result, const Tensor& reference,
                                   std::span<const Arrangement> choices, double allowed) {
  const ElementReader reader(reference);
  for (const Arrangement& choice : choices) {
    if (!samples_agree(result, reader, choice, allowed)) continue;
    double max_abs = 0;
    walk(choice, [&](std::int64_t position, std::int64_t index) {
      max_abs = std::max(max_abs, element_error(result[static_cast<std::size_t>(position)], reader.at(index)));
      return max_abs <= allowed;
    });
    if (max_abs <= allowed) return Agreement{choice, max_abs};
  }
  return std::nullopt;
}

Result<HostTensor> rearranged(const Tensor& reference, const Arrangement& arrangement, const Shape& shape) {
  PTERUN_ASSIGN(HostTensor copy, HostTensor::allocate(reference.dtype(), shape));
  const std::size_t size = dtype_size(reference.dtype());
  const auto* from = static_cast<const std::byte*>(reference.raw_data());
  auto* to = static_cast<std::byte*>(copy.view().mutable_raw_data());
  walk(arrangement, [&](std::int64_t position, std::int64_t index) {
    std::memcpy(to + static_cast<std::size_t>(position) * size, from + static_cast<std::size_t>(index) * size, size);
    return true;
  });
  return copy;
}

}  // namespace pterun::compare
