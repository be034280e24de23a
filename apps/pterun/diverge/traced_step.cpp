// One pass over every reference result when the step begins.
#include "pterun/diverge/traced_step.h"

#include <algorithm>
#include <cmath>

#include "compare/element_reader.h"
#include "pterun/diverge/judge.h"
#include "pterun/session/report_parts.h"

namespace pterun::app {
namespace {

// Steps that one quantised result may be off by: half a step of rounding is a uniform error, whose largest among
// many elements after a product is some times that; weights of a float model are rounded as well.
constexpr double kStepsToConverted = 2;
constexpr double kStepsToFloat = 8;

}  // namespace

void QuantisationNoise::merge(const QuantisationNoise& other) {
  if (other.bits != 0) bits = bits == 0 ? other.bits : std::min(bits, other.bits);
  depth = std::max(depth, other.depth);
}

TracedStep::TracedStep(reference::EagerTrace trace, bool is_converted, bool carries_state)
    : trace_(std::move(trace)), is_converted_(is_converted), carries_state_(carries_state) {
  facts_.resize(trace_.results.size());
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    const reference::TracedResult& result = trace_.results[i];
    Facts& facts = facts_[i];
    if (!is_complex(result.tensor.dtype())) {
      const compare::ElementReader reader(result.tensor);
      const double first = result.tensor.numel() > 0 ? reader.at(0) : 0;
      for (std::int64_t k = 0; k < result.tensor.numel(); ++k) {
        const double value = reader.at(k);
        facts.is_uniform = facts.is_uniform && value == first;
        if (!std::isfinite(value)) continue;
        facts.low = std::min(facts.low, value);
        facts.high = std::max(facts.high, value);
      }
      facts.largest = std::max(facts.high, -facts.low);
    }
    for (const std::size_t read : result.reads)
      facts.depth = std::max(facts.depth, facts_[read].depth + 1);
    deepest_ = std::max(deepest_, facts.depth);
  }
}

std::vector<compare::ReferenceResult> TracedStep::references() const {
  std::vector<compare::ReferenceResult> references;
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    const reference::TracedResult& result = trace_.results[i];
    references.push_back({compare::operator_family(result.target), result.reads, facts_[i].is_uniform});
  }
  return references;
}

double TracedStep::allowed(const config::StepPlan& plan, std::size_t reference, DType judged,
                           const QuantisationNoise& noise) const {
  static constexpr std::size_t kNoOutput = ~std::size_t{0};
  const Facts& facts = facts_[reference];
  // Bounds that cannot be parsed are an error when outputs are compared, before this.
  const compare::Tolerance tolerance =
      tolerance_for(plan, kNoOutput, judged).value_or(compare::default_tolerance(judged));
  const double share = carries_state_ ? 1 : std::sqrt(static_cast<double>(facts.depth) / static_cast<double>(deepest_));
  double allowed = (tolerance.atol + tolerance.rtol * facts.largest) * share + 8 * epsilon_of(judged) * facts.largest;
  if (noise.bits == 0) return allowed;
  const double step =
      noise.scale > 0 ? noise.scale : (facts.high - facts.low) / (std::exp2(static_cast<double>(noise.bits)) - 1);
  const double steps = is_converted_ ? kStepsToConverted : kStepsToFloat;
  return allowed + steps * std::sqrt(static_cast<double>(std::max<std::size_t>(noise.depth, 1))) * step;
}

}  // namespace pterun::app
