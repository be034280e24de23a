// Pairing the results of a program with those of another one that computes the same by other operators: by content, in
// the order in which both give them, guided by what each was computed from. Operators that were fused pair with the
// last of those they stand for; the parts of one that was taken apart have no counterpart, and do no harm as long as
// only right values follow from them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/arrangement.h"

namespace pterun::compare {

// "aten::add.out", "aten.add.Tensor", "Add" -> "add"; convolutions -> "conv", "FullyConnected", "addmm" -> "linear".
std::string operator_family(std::string_view name);

// A result of the reference. Indices count the results of one step.
struct ReferenceResult {
  std::string family;
  std::vector<std::size_t> reads;  // earlier results that it was computed from; none: from inputs and constants alone
  bool is_uniform = false;         // all its elements are equal: much is equal to it by chance
};

// A result of the program. Indices count the results of all steps.
struct WatchedResult {
  std::string family;
  std::vector<std::size_t> reads;  // likewise
};

// A reference result and how far the watched one is from it.
struct Counterpart {
  std::size_t step = 0;
  std::size_t reference = 0;
  Arrangement arrangement;
  double max_abs = 0;
  double relative_rmse = 0;  // root mean square error, in units of the reference's largest
  double allowed = 0;
};

// Looks at the elements of the result that is being added and of reference results of the step.
class Probe {
 public:
  virtual ~Probe() = default;
  // Whether there is an arrangement of that reference result in the shape of this one.
  virtual bool fits(std::size_t reference) = 0;
  // The counterpart if all elements agree. Cheap where they do not.
  virtual std::optional<Counterpart> agreement(std::size_t reference) = 0;
  // The counterpart however far off it is.
  virtual Counterpart distance(std::size_t reference) = 0;
  // Whether they differ beyond doubt: not just by an order that no arrangement is for, or by what quantisation cuts
  // off.
  virtual bool surely_differs(std::size_t reference) = 0;
};

struct CounterpartVerdict {
  // Where the first wrong value comes from.
  struct First {
    std::size_t watched = 0;                       // the first result that is off
    std::size_t closing = 0;                       // the result that should equal `expected`: it or one that follows it
    std::optional<Counterpart> expected;           // nothing of the reference fits otherwise
    std::optional<std::size_t> last_agreeing;      // reference result, in the step of `watched`
    std::optional<std::size_t> first_disagreeing;  // likewise
  };
  std::size_t mapped = 0;
  std::size_t unmapped = 0;
  std::size_t diverging = 0;
  std::optional<First> first;
};

class CounterpartFinder {
 public:
  // Results added from now on belong to another step, which gave these in the reference; none: the step is not
  // compared.
  void begin_step(std::vector<ReferenceResult> references);
  // Adds an input of the program, which equals that of the reference; none: the reference has no such input. It counts
  // as a result with an index, and in no total.
  void add_input(std::optional<std::size_t> reference);
  // Adds a result, whose elements `probe` looks at; its index is the number of those added before. With no probe (its
  // elements cannot be compared) it only hands on where values come from. Returns its counterpart, if there is one.
  const std::optional<Counterpart>& add(WatchedResult result, Probe* probe);
  std::size_t size() const { return watched_.size(); }
  const std::optional<Counterpart>& counterpart(std::size_t watched) const { return watched_[watched].counterpart; }

  // `wrong_outputs`: results that are outputs and differ from the reference's, and the outputs of the reference that
  // they should equal. A result without a counterpart is off when a wrong output follows from it through others without
  // one, or when the operator of the reference that does the same on the same operands gave something else that nothing
  // equals.
  struct WrongOutput {
    std::size_t watched = 0;
    std::optional<std::size_t> reference;
  };
  CounterpartVerdict judge(std::span<const WrongOutput> wrong_outputs) const;

 private:
  struct Step {
    std::vector<ReferenceResult> references;
    std::vector<bool> mapped;  // by reference: whether a result equals it
  };
  struct Watched {
    WatchedResult result;
    std::size_t step = 0;
    bool compared = false;
    bool is_input = false;
    std::optional<Counterpart> counterpart;
    std::vector<Counterpart> candidates;  // what it may have to equal, when it equals nothing
    std::optional<std::size_t> twin;      // of `candidates`: the same operator on the same operands
    // Counterparts of what it was computed from, through results that have none; the latest few.
    std::vector<std::size_t> anchors;
    bool anchored_in_source = false;
  };
  void anchor(Watched& watched) const;
  void find_counterpart(Watched& watched, Probe& probe);
  std::optional<std::size_t> hops_to(std::size_t reference, const Watched& watched, std::size_t limit) const;
  bool is_twin(std::size_t reference, const Watched& watched) const;
  std::vector<bool> wrong_watched(std::span<const WrongOutput> wrong_outputs) const;
  std::vector<bool> wrong_references(std::size_t step, std::span<const WrongOutput> wrong_outputs) const;
  CounterpartVerdict::First locate(std::size_t first, const std::vector<bool>& wrong,
                                   std::span<const WrongOutput> wrong_outputs) const;

  std::vector<Step> steps_;
  std::vector<Watched> watched_;
};

}  // namespace pterun::compare
