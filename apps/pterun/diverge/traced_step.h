// The results of a .pt2 in one step, with what the comparison needs to know of each, and how far a result of the
// program may be from one.
#pragma once

#include <cstddef>
#include <vector>

#include "compare/counterparts.h"
#include "config/plan.h"
#include "reference/reference.h"

namespace pterun::app {

// What quantisation adds to a result: the coarsest numbers on the way to it, and how many quantised results or products
// with quantised weights follow each other there.
struct QuantisationNoise {
  unsigned bits = 0;  // 0: none
  std::size_t depth = 0;
  double scale = 0;  // of the result itself, when it is quantised; 0: it is not
  // The worse of both, without a scale.
  void merge(const QuantisationNoise& other);
};

class TracedStep {
 public:
  // No results: the step has no .pt2.
  TracedStep() = default;
  // `carries_state`: errors of earlier steps come in, so that every result may use the whole tolerance.
  TracedStep(reference::EagerTrace trace, bool is_converted, bool carries_state);

  const reference::EagerTrace& trace() const { return trace_; }
  std::vector<compare::ReferenceResult> references() const;
  // The largest finite magnitude of a reference result.
  double largest(std::size_t reference) const { return facts_[reference].largest; }
  // (atol + rtol * largest) * sqrt(depth / deepest), and 8 units in the last place of the largest; depth counts the
  // operators of the .pt2 in the longest chain up to it. Quantisation adds steps times the root of its depth; a step is
  // the scale of the result, else the reference's range over the numbers that so many bits have. `judged`: the dtype
  // that the tolerance is for.
  double allowed(const config::StepPlan& plan, std::size_t reference, DType judged,
                 const QuantisationNoise& noise) const;

 private:
  struct Facts {
    double largest = 0;
    double low = 0;
    double high = 0;
    bool is_uniform = true;
    std::size_t depth = 1;
  };
  reference::EagerTrace trace_;
  std::vector<Facts> facts_;
  std::size_t deepest_ = 1;
  bool is_converted_ = false;
  bool carries_state_ = false;
};

}  // namespace pterun::app
