// Comparison of one output with its reference: error metrics, element tolerance or bounds on metrics, verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"

namespace pterun::compare {

// All errors are got - want, in double; elements that are NaN or infinite on either side are counted, and left out
// of the means. Relative error is |got - want| / |want|, infinite where want is 0 and got is not.
struct Metrics {
  std::int64_t elements = 0;
  double max_abs = 0;
  double mean_abs = 0;
  double max_rel = 0;
  double mean_rel = 0;
  double rmse = 0;
  double cosine = 1;              // of the finite elements; 1 when both sides are zero
  double snr_db = 0;              // 10 log10(sum want^2 / sum error^2); infinite when equal
  std::optional<double> max_ulp;  // floating dtypes: steps between neighbouring values of the dtype
  std::int64_t mismatches = 0;    // elements outside the element tolerance
  double mismatch_fraction = 0;
  std::int64_t nan_got = 0;
  std::int64_t nan_want = 0;
  std::int64_t inf_got = 0;
  std::int64_t inf_want = 0;
  bool nan_agree = true;               // NaN at the same places
  bool inf_agree = true;               // infinities at the same places with the same signs
  std::optional<double> argmax_agree;  // share of rows of the last dimension whose first maximum is at the same place
};

struct WorstElement {
  Shape index;
  double got = 0;
  double want = 0;
  double abs_error = 0;
};

// One bound on a metric: "cosine>=0.999".
struct Bound {
  std::string
      metric;  // max_abs, mean_abs, max_rel, mean_rel, rmse, cosine, snr_db, max_ulp, mismatch_fraction, argmax_agree
  bool at_most = true;  // <= or >=
  double value = 0;
  std::string to_string() const;
};

// An element passes if |got - want| <= atol + rtol * |want|; bounds, where given, replace the element test.
struct Tolerance {
  double atol = 0;
  double rtol = 0;
  std::vector<Bound> bounds;
};

// The contract's defaults: float64 1e-7, float32 1e-4, float16 1e-2, bfloat16 2e-2 (both), others exact.
Tolerance default_tolerance(DType dtype);

// "cosine>=0.999,max_abs<=0.1". Errors: kUsage naming the part that is wrong and the metrics there are.
Result<std::vector<Bound>> parse_bounds(std::string_view text);

struct Comparison {
  bool pass = false;
  std::string reason;  // why it failed, one sentence; empty when it passed
  Metrics metrics;
  std::vector<WorstElement> worst;  // by absolute error, largest first; NaN and infinity mismatches before all
  Tolerance tolerance;
  // got - want of finite elements in decades: histogram[i] counts errors in [10^(i-17), 10^(i-16)); [0] holds
  // smaller ones and zero, the last those >= 10^3.
  std::vector<std::int64_t> histogram;
};

inline constexpr std::size_t kWorstElements = 5;
inline constexpr std::size_t kHistogramBins = 21;

// Shapes and dtypes must be equal (check_comparable); dim orders may differ, except that complex tensors are row-major.
// Complex elements are compared part by part, in a last dimension of size 2.
Comparison compare_tensors(const Tensor& got, const Tensor& want, const Tolerance& tolerance);

// Errors: kReference, naming output, shape and dtype of both.
Result<void> check_comparable(std::string_view output, const Tensor& got, const Tensor& want);

}  // namespace pterun::compare
