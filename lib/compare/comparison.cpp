// One pass over both tensors gathers every metric; a second, over few elements, is not needed.
#include "compare/comparison.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compare/element_reader.h"

namespace pterun::compare {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Accumulator {
  Metrics metrics;
  double sum_abs = 0;
  double sum_rel = 0;
  double sum_square = 0;
  double got_square = 0;
  double want_square = 0;
  double product = 0;
  std::int64_t finite = 0;
  std::int64_t relative = 0;
  std::vector<std::pair<double, std::int64_t>> worst;  // a heap: smallest error in front
  std::vector<std::int64_t> histogram = std::vector<std::int64_t>(kHistogramBins, 0);

  void note_worst(double error, std::int64_t index) {
    const auto larger = [](const auto& a, const auto& b) { return a.first > b.first; };
    if (worst.size() == kWorstElements && error <= worst.front().first) return;
    if (worst.size() == kWorstElements) {
      std::ranges::pop_heap(worst, larger);
      worst.pop_back();
    }
    worst.emplace_back(error, index);
    std::ranges::push_heap(worst, larger);
  }
};

std::size_t histogram_bin(double error) {
  if (!(error > 0)) return 0;
  const double decade = std::floor(std::log10(error)) + 17;
  return static_cast<std::size_t>(std::clamp(decade, 0.0, static_cast<double>(kHistogramBins - 1)));
}

// Elements of which one side is NaN or infinite: they pass only when both sides agree.
bool add_non_finite(Accumulator& all, double got, double want) {
  Metrics& m = all.metrics;
  m.nan_got += std::isnan(got);
  m.nan_want += std::isnan(want);
  m.inf_got += std::isinf(got);
  m.inf_want += std::isinf(want);
  const bool nan_equal = std::isnan(got) == std::isnan(want);
  const bool inf_equal = (std::isinf(got) ? got : 0.0) == (std::isinf(want) ? want : 0.0);
  m.nan_agree = m.nan_agree && nan_equal;
  m.inf_agree = m.inf_agree && inf_equal;
  return nan_equal && inf_equal;
}

void add_finite(Accumulator& all, double got, double want, double error) {
  Metrics& m = all.metrics;
  ++all.finite;
  m.max_abs = std::max(m.max_abs, error);
  all.sum_abs += error;
  all.sum_square += error * error;
  all.got_square += got * got;
  all.want_square += want * want;
  all.product += got * want;
  if (want != 0) {
    const double relative = error / std::abs(want);
    m.max_rel = std::max(m.max_rel, relative);
    all.sum_rel += relative;
    ++all.relative;
  } else if (error != 0) {
    m.max_rel = kInfinity;
  }
  ++all.histogram[histogram_bin(error)];
}

void finish(Accumulator& all) {
  Metrics& m = all.metrics;
  const double count = static_cast<double>(std::max<std::int64_t>(all.finite, 1));
  m.mean_abs = all.sum_abs / count;
  m.mean_rel = all.relative == 0 ? 0 : all.sum_rel / static_cast<double>(all.relative);
  m.rmse = std::sqrt(all.sum_square / count);
  const double norms = std::sqrt(all.got_square) * std::sqrt(all.want_square);
  m.cosine = norms > 0 ? std::clamp(all.product / norms, -1.0, 1.0) : (all.got_square == all.want_square ? 1.0 : 0.0);
  m.snr_db = all.sum_square == 0 ? kInfinity : 10.0 * std::log10(all.want_square / all.sum_square);
  m.mismatch_fraction = m.elements == 0 ? 0 : static_cast<double>(m.mismatches) / static_cast<double>(m.elements);
}

// Share of rows (last dimension) whose first maximum is at the same place; NaN counts as the maximum, as in eager.
std::optional<double> argmax_agreement(const ElementReader& got, const ElementReader& want, const Tensor& tensor) {
  if (!is_floating(tensor.dtype()) || tensor.rank() == 0 || tensor.numel() == 0) return std::nullopt;
  const std::int64_t width = tensor.size(tensor.rank() - 1);
  if (width < 2) return std::nullopt;
  const auto argmax = [width](const ElementReader& reader, std::int64_t row) {
    std::int64_t best = 0;
    double best_value = reader.at(row * width);
    for (std::int64_t i = 1; i < width && !std::isnan(best_value); ++i) {
      const double value = reader.at(row * width + i);
      if (value > best_value || std::isnan(value)) {
        best = i;
        best_value = value;
      }
    }
    return best;
  };
  const std::int64_t rows = tensor.numel() / width;
  std::int64_t agree = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    agree += argmax(got, row) == argmax(want, row);
  return static_cast<double>(agree) / static_cast<double>(rows);
}

Shape unflatten(std::int64_t index, const Shape& shape) {
  Shape place = Shape::filled(shape.rank(), 0);
  for (std::size_t i = shape.rank(); i-- > 0;) {
    place[i] = index % shape[i];
    index /= shape[i];
  }
  return place;
}

double metric_value(const Metrics& m, std::string_view name) {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  const std::array<std::pair<std::string_view, double>, 10> values = {
      {{"max_abs", m.max_abs},
       {"mean_abs", m.mean_abs},
       {"max_rel", m.max_rel},
       {"mean_rel", m.mean_rel},
       {"rmse", m.rmse},
       {"cosine", m.cosine},
       {"snr_db", m.snr_db},
       {"max_ulp", m.max_ulp.value_or(missing)},
       {"mismatch_fraction", m.mismatch_fraction},
       {"argmax_agree", m.argmax_agree.value_or(missing)}}};
  for (const auto& [key, value] : values) {
    if (key == name) return value;
  }
  return missing;
}

constexpr std::array<std::string_view, 10> kMetricNames = {
    "max_abs", "mean_abs", "max_rel", "mean_rel",          "rmse",
    "cosine",  "snr_db",   "max_ulp", "mismatch_fraction", "argmax_agree"};

// Why the metrics break a bound, or "".
std::string broken_bound(const Metrics& metrics, const std::vector<Bound>& bounds) {
  for (const Bound& bound : bounds) {
    const double value = metric_value(metrics, bound.metric);
    const bool holds = bound.at_most ? value <= bound.value : value >= bound.value;
    if (!holds) return fmt::format("{} is {}, the tolerance is {}", bound.metric, value, bound.to_string());
  }
  return "";
}

std::string non_finite_reason(const Metrics& m) {
  if (!m.nan_agree)
    return fmt::format("NaN at different places: {} in the output, {} in the reference", m.nan_got, m.nan_want);
  if (!m.inf_agree) {
    return fmt::format("infinities differ: {} in the output, {} in the reference", m.inf_got, m.inf_want);
  }
  return "";
}

}  // namespace

Tolerance default_tolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return {1e-7, 1e-7, {}};
    case DType::kComplex128: return {1e-7, 1e-7, {}};
    case DType::kComplex64:
    case DType::kFloat32: return {1e-4, 1e-4, {}};
    case DType::kFloat16: return {1e-2, 1e-2, {}};
    case DType::kBFloat16: return {2e-2, 2e-2, {}};
    default: return {};
  }
}

std::string Bound::to_string() const {
  return fmt::format("{}{}{}", metric, at_most ? "<=" : ">=", value);
}

Result<std::vector<Bound>> parse_bounds(std::string_view text) {
  std::vector<Bound> bounds;
  const auto wrong = [&](std::string_view part) {
    return fail(
        make_error(ErrorCode::kUsage, fmt::format("tolerance '{}' is not METRIC<=NUMBER or METRIC>=NUMBER", part))
            .with_hint(fmt::format("the metrics are {}", fmt::join(kMetricNames, ", "))));
  };
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    while (!part.empty() && part.front() == ' ')
      part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ')
      part.remove_suffix(1);
    const std::size_t sign = part.find_first_of("<>");
    if (sign == std::string_view::npos || sign + 2 >= part.size() || part[sign + 1] != '=') return wrong(part);
    Bound bound{std::string(part.substr(0, sign)), part[sign] == '<', 0};
    const std::string_view number = part.substr(sign + 2);
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), bound.value);
    const bool known = std::ranges::find(kMetricNames, bound.metric) != kMetricNames.end();
    if (!known || parsed.ec != std::errc() || parsed.ptr != number.data() + number.size()) return wrong(part);
    bounds.push_back(std::move(bound));
  }
  return bounds;
}

Result<void> check_comparable(std::string_view output, const Tensor& got, const Tensor& want) {
  if (got.dtype() == want.dtype() && got.shape() == want.shape()) return {};
  return fail(make_error(ErrorCode::kReference, fmt::format("output {}: the program gives {}, the reference holds {}",
                                                            output, got.describe(), want.describe()))
                  .at("output", std::string(output)));
}

Comparison compare_tensors(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  if (is_complex(got.dtype())) return compare_tensors(view_as_real(got), view_as_real(want), tolerance);
  const ElementReader got_reader(got);
  const ElementReader want_reader(want);
  Accumulator all;
  all.metrics.elements = got.numel();
  double max_ulp = 0;
  for (std::int64_t i = 0; i < got.numel(); ++i) {
    const double g = got_reader.at(i);
    const double w = want_reader.at(i);
    bool pass = false;
    double error = kInfinity;
    if (!std::isfinite(g) || !std::isfinite(w)) {
      pass = add_non_finite(all, g, w);
      if (pass) error = 0;
    } else {
      error = got_reader.exact_difference(i, want_reader);
      add_finite(all, g, w, error);
      pass = error <= tolerance.atol + tolerance.rtol * std::abs(w);
      max_ulp = std::max(max_ulp, got_reader.ulp_distance(i, want_reader));
    }
    all.metrics.mismatches += !pass;
    if (error != 0) all.note_worst(error, i);
  }
  finish(all);
  if (is_floating(got.dtype())) all.metrics.max_ulp = max_ulp;
  all.metrics.argmax_agree = argmax_agreement(got_reader, want_reader, got);

  Comparison result;
  result.metrics = all.metrics;
  result.tolerance = tolerance;
  result.histogram = std::move(all.histogram);
  std::ranges::sort(all.worst, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (const auto& [error, index] : all.worst) {
    result.worst.push_back({unflatten(index, got.shape()), got_reader.at(index), want_reader.at(index), error});
  }
  result.reason = non_finite_reason(result.metrics);
  if (result.reason.empty() && !tolerance.bounds.empty())
    result.reason = broken_bound(result.metrics, tolerance.bounds);
  if (result.reason.empty() && tolerance.bounds.empty() && result.metrics.mismatches > 0) {
    result.reason = fmt::format("{} of {} elements are outside atol {} + rtol {} x |want|", result.metrics.mismatches,
                                result.metrics.elements, tolerance.atol, tolerance.rtol);
  }
  result.pass = result.reason.empty();
  return result;
}

}  // namespace pterun::compare
