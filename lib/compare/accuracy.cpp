// Counting the rows whose largest score is at the label's place.
#include "compare/accuracy.h"

#include <cmath>

#include "compare/element_reader.h"

namespace pterun::compare {

Result<Accuracy> top1_accuracy(const Tensor& scores, const Tensor& labels) {
  const std::int64_t classes = scores.rank() == 0 ? 0 : scores.size(scores.rank() - 1);
  if (classes == 0 || !is_integer(labels.dtype()) || scores.numel() / classes != labels.numel()) {
    return fail(ErrorCode::kReference, "labels " + labels.describe() + " do not fit an output " + scores.describe() +
                                           ": one integer is needed for each row of the output");
  }
  const ElementReader score(scores);
  const ElementReader label(labels);
  Accuracy accuracy;
  accuracy.total = labels.numel();
  for (std::int64_t row = 0; row < accuracy.total; ++row) {
    std::int64_t best = 0;
    double best_score = score.at(row * classes);
    for (std::int64_t i = 1; i < classes && !std::isnan(best_score); ++i) {
      const double candidate = score.at(row * classes + i);
      if (!(candidate > best_score) && !std::isnan(candidate)) continue;
      best = i;
      best_score = candidate;
    }
    accuracy.correct += static_cast<double>(best) == label.at(row);
  }
  return accuracy;
}

}  // namespace pterun::compare
