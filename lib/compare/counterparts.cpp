// Reference results near what a result was computed from are tried first; judging goes backwards from wrong outputs.
#include "compare/counterparts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <tuple>
#include <utility>

namespace pterun::compare {
namespace {

constexpr std::size_t kMaxAnchors = 8;
constexpr std::size_t kSearchHops = 6;     // operators of the reference between a result and what it was computed from
constexpr std::size_t kCandidateHops = 4;  // the same, for a result that equals none
constexpr std::size_t kMaxCandidates = 6;
constexpr std::size_t kMaxBlock = 16;  // results that may together stand for one operator
// A later result must be this many times closer to be taken for the end of an operator that was taken apart.
constexpr double kMuchCloser = 3;

constexpr std::array<std::pair<std::string_view, std::string_view>, 35> kFamilies = {{
    {"conv1d", "conv"},
    {"conv2d", "conv"},
    {"conv3d", "conv"},
    {"convolution", "conv"},
    {"conv_transpose1d", "conv"},
    {"conv_transpose2d", "conv"},
    {"convtranspose2d", "conv"},
    {"depthwiseconv2d", "conv"},
    {"fullyconnected", "linear"},
    {"addmm", "linear"},
    {"mm", "linear"},
    {"batchmatrixmultiply", "matmul"},
    {"bmm", "matmul"},
    {"baddbmm", "matmul"},
    {"multiply", "mul"},
    {"subtract", "sub"},
    {"negate", "neg"},
    {"concatenate2", "cat"},
    {"concatenate3", "cat"},
    {"concatenate4", "cat"},
    {"concatenate5", "cat"},
    {"concat", "cat"},
    {"avgpooling2d", "avg_pool2d"},
    {"maxpooling2d", "max_pool2d"},
    {"globalavgpooling2d", "mean"},
    {"squareroot", "sqrt"},
    {"reciprocalsquareroot", "rsqrt"},
    {"batch_norm_legit_no_training", "batch_norm"},
    {"batch_norm_legit", "batch_norm"},
    {"max_pool2d_with_indices", "max_pool2d"},
    {"ceiling", "ceil"},
    {"hardtanh", "clamp"},
    {"relu", "clamp"},
    {"relu6", "clamp"},
    {"leakyrelu", "leaky_relu"},
}};

bool contains(const std::vector<std::size_t>& list, std::size_t item) {
  return std::ranges::find(list, item) != list.end();
}

void add_once(std::vector<std::size_t>& list, std::size_t item) {
  if (!contains(list, item)) list.push_back(item);
}

const Counterpart* nearest(const std::vector<Counterpart>& candidates) {
  const auto least = std::ranges::min_element(candidates, {}, &Counterpart::relative_rmse);
  return least == candidates.end() ? nullptr : &*least;
}

}  // namespace

std::string operator_family(std::string_view name) {
  std::size_t begin = name.rfind("::");
  if (begin != std::string_view::npos) {
    begin += 2;
  } else {
    begin = name.find('.') == std::string_view::npos ? 0 : name.find('.') + 1;
  }
  std::string family;
  for (const char c : name.substr(begin, name.find('.', begin) - begin))
    family += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  while (family.starts_with('_'))
    family.erase(0, 1);
  if (family.starts_with("native_")) family.erase(0, 7);
  if (family.ends_with("_copy")) family.erase(family.size() - 5);
  while (family.ends_with('_'))
    family.pop_back();
  const auto found = std::ranges::find(kFamilies, family, [](const auto& row) { return row.first; });
  return found == kFamilies.end() ? family : std::string(found->second);
}

void CounterpartFinder::begin_step(std::vector<ReferenceResult> references) {
  const std::size_t count = references.size();
  steps_.push_back({std::move(references), std::vector<bool>(count, false)});
}

// Results of earlier steps are state: where they come from is not looked for in this one.
void CounterpartFinder::anchor(Watched& watched) const {
  watched.anchored_in_source = watched.result.reads.empty();
  for (const std::size_t read : watched.result.reads) {
    const Watched& source = watched_[read];
    if (source.step != watched.step) {
      watched.anchored_in_source = true;
    } else if (source.counterpart) {
      add_once(watched.anchors, source.counterpart->reference);
    } else {
      for (const std::size_t reference : source.anchors)
        add_once(watched.anchors, reference);
      if (const Counterpart* likely = nearest(source.candidates)) add_once(watched.anchors, likely->reference);
      watched.anchored_in_source = watched.anchored_in_source || source.anchored_in_source;
    }
  }
  std::ranges::sort(watched.anchors, std::greater<>());
  if (watched.anchors.size() > kMaxAnchors) watched.anchors.resize(kMaxAnchors);
}

// How many operators lie between the anchors and a reference result, itself included; 0: it is an anchor itself and
// follows from no other; nothing: more than `limit`, or it follows from none.
std::optional<std::size_t> CounterpartFinder::hops_to(std::size_t reference, const Watched& watched,
                                                      std::size_t limit) const {
  const std::vector<ReferenceResult>& references = steps_[watched.step].references;
  std::vector<std::size_t> level = {reference};
  for (std::size_t hops = 1; hops <= limit; ++hops) {
    std::vector<std::size_t> above;
    for (const std::size_t item : level) {
      if (references[item].reads.empty() && watched.anchored_in_source) return hops;
      for (const std::size_t read : references[item].reads) {
        if (contains(watched.anchors, read)) return hops;
        add_once(above, read);
      }
    }
    level = std::move(above);
  }
  if (contains(watched.anchors, reference)) return 0;
  return std::nullopt;
}

// The same operator on the same operands.
bool CounterpartFinder::is_twin(std::size_t reference, const Watched& watched) const {
  const ReferenceResult& other = steps_[watched.step].references[reference];
  if (watched.result.family.empty() || other.family != watched.result.family) return false;
  std::vector<std::size_t> operands;
  for (const std::size_t read : watched.result.reads) {
    const Watched& source = watched_[read];
    if (source.step != watched.step || !source.counterpart) return false;
    add_once(operands, source.counterpart->reference);
  }
  std::vector<std::size_t> reads = other.reads;
  std::ranges::sort(operands);
  std::ranges::sort(reads);
  const auto [first, last] = std::ranges::unique(reads);
  reads.erase(first, last);
  return operands == reads;
}

void CounterpartFinder::find_counterpart(Watched& watched, Probe& probe) {
  Step& step = steps_[watched.step];
  // Those that follow from the anchors, the nearest first; anchors themselves, for copies and layouts; all others in
  // the order of the graph, beginning behind the anchors. What is equal to much must follow from the anchors.
  enum Rank : std::uint8_t { kFollows, kAnchor, kBehind, kBefore };
  std::vector<std::tuple<Rank, std::size_t, std::size_t>> order;
  const std::size_t latest = watched.anchors.empty() ? 0 : watched.anchors.front();
  for (std::size_t i = 0; i < step.references.size(); ++i) {
    if (!probe.fits(i)) continue;
    const auto hops = hops_to(i, watched, kSearchHops);
    if (hops) {
      order.emplace_back(*hops == 0 ? kAnchor : kFollows, *hops, i);
    } else if (!step.references[i].is_uniform) {
      order.emplace_back(i >= latest ? kBehind : kBefore, 0, i);
    }
  }
  std::ranges::sort(order);
  for (const auto& [rank, hops, reference] : order) {
    watched.counterpart = probe.agreement(reference);
    if (!watched.counterpart) continue;
    step.mapped[reference] = true;
    return;
  }
  for (const auto& [rank, hops, reference] : order) {
    if (rank != kFollows || hops > kCandidateHops || watched.candidates.size() == kMaxCandidates) break;
    watched.candidates.push_back(probe.distance(reference));
    if (!watched.twin && is_twin(reference, watched) && probe.surely_differs(reference)) watched.twin = reference;
  }
}

void CounterpartFinder::add_input(std::optional<std::size_t> reference) {
  Watched watched;
  watched.step = steps_.size() - 1;
  watched.is_input = true;
  watched.anchored_in_source = true;
  if (reference) {
    watched.counterpart = Counterpart{watched.step, *reference, {}, 0, 0, 0};
    steps_.back().mapped[*reference] = true;
  }
  watched_.push_back(std::move(watched));
}

const std::optional<Counterpart>& CounterpartFinder::add(WatchedResult result, Probe* probe) {
  Watched watched;
  watched.result = std::move(result);
  watched.step = steps_.size() - 1;
  watched.compared = probe != nullptr && !steps_.back().references.empty();
  anchor(watched);
  if (watched.compared) find_counterpart(watched, *probe);
  watched_.push_back(std::move(watched));
  return watched_.back().counterpart;
}

std::vector<bool> CounterpartFinder::wrong_watched(std::span<const WrongOutput> wrong_outputs) const {
  std::vector<bool> wrong(watched_.size(), false);
  for (const WrongOutput& output : wrong_outputs)
    wrong[output.watched] = !watched_[output.watched].counterpart;
  for (std::size_t i = watched_.size(); i-- > 0;) {
    if (!wrong[i]) continue;
    for (const std::size_t read : watched_[i].result.reads) {
      const Watched& source = watched_[read];
      if (!source.counterpart && !source.is_input && !steps_[source.step].references.empty()) wrong[read] = true;
    }
  }
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const Watched& watched = watched_[i];
    if (watched.twin && !watched.counterpart && !steps_[watched.step].mapped[*watched.twin]) wrong[i] = true;
  }
  return wrong;
}

std::vector<bool> CounterpartFinder::wrong_references(std::size_t step,
                                                      std::span<const WrongOutput> wrong_outputs) const {
  const Step& items = steps_[step];
  std::vector<bool> wrong(items.references.size(), false);
  bool known = false;
  for (const WrongOutput& output : wrong_outputs) {
    if (watched_[output.watched].step != step || !output.reference) continue;
    wrong[*output.reference] = !items.mapped[*output.reference];
    known = true;
  }
  // Wrong values went on into a later step: all that nothing equals may be where they come from.
  if (!known) wrong.assign(wrong.size(), true);
  for (std::size_t i = wrong.size(); i-- > 0;) {
    wrong[i] = wrong[i] && !items.mapped[i];
    if (!wrong[i]) continue;
    for (const std::size_t read : items.references[i].reads)
      wrong[read] = !items.mapped[read];
  }
  return wrong;
}

CounterpartVerdict::First CounterpartFinder::locate(std::size_t first, const std::vector<bool>& wrong,
                                                    std::span<const WrongOutput> wrong_outputs) const {
  const std::size_t step = watched_[first].step;
  const std::vector<ReferenceResult>& references = steps_[step].references;
  std::vector<bool> suspects = wrong_references(step, wrong_outputs);
  if (watched_[first].twin) suspects[*watched_[first].twin] = true;
  CounterpartVerdict::First found{first, first, std::nullopt, std::nullopt, std::nullopt};
  for (const std::size_t reference : watched_[first].anchors) {
    if (!steps_[step].mapped[reference]) continue;
    found.last_agreeing = reference;
    break;
  }
  // The operators that the first result, or the first after it that has a likely one, may stand for; and the results
  // that may stand for one of them.
  std::vector<std::size_t> chain;
  struct Pair {
    std::size_t watched;
    const Counterpart* expected;
    double distance;
  };
  std::vector<Pair> pairs;
  std::size_t block = 0;
  for (std::size_t i = first; i < watched_.size() && watched_[i].step == step && block < kMaxBlock; ++i) {
    if (!wrong[i]) continue;
    ++block;
    if (chain.empty()) {
      for (const Counterpart& candidate : watched_[i].candidates)
        if (suspects[candidate.reference]) chain.push_back(candidate.reference);
    }
    for (const Counterpart& candidate : watched_[i].candidates) {
      if (!contains(chain, candidate.reference)) continue;
      const bool related = references[candidate.reference].family == watched_[i].result.family;
      pairs.push_back({i, &candidate, candidate.relative_rmse * (related ? 0.5 : 1.0)});
    }
  }
  const auto closest_pair = std::ranges::min_element(pairs, {}, &Pair::distance);
  // The first result that is about as close as any comes, and the operator that it is closest to.
  double least = std::numeric_limits<double>::infinity();
  for (const Pair& pair : pairs) {
    if (pair.distance > kMuchCloser * closest_pair->distance || pair.distance >= least) continue;
    if (found.expected && pair.watched != found.closing) break;
    least = pair.distance;
    found.closing = pair.watched;
    found.expected = *pair.expected;
  }
  if (found.expected) {
    found.first_disagreeing = found.expected->reference;
    return found;
  }
  for (std::size_t i = 0; i < references.size() && !found.first_disagreeing; ++i) {
    const bool reads_wrong = std::ranges::any_of(references[i].reads, [&](std::size_t read) { return suspects[read]; });
    if (suspects[i] && !reads_wrong) found.first_disagreeing = i;
  }
  return found;
}

CounterpartVerdict CounterpartFinder::judge(std::span<const WrongOutput> wrong_outputs) const {
  CounterpartVerdict verdict;
  const std::vector<bool> wrong = wrong_watched(wrong_outputs);
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    if (wrong[i]) {
      ++verdict.diverging;
      if (!verdict.first) verdict.first = locate(i, wrong, wrong_outputs);
    } else if (watched_[i].counterpart && !watched_[i].is_input) {
      ++verdict.mapped;
    } else if (watched_[i].compared) {
      ++verdict.unmapped;
    }
  }
  return verdict;
}

}  // namespace pterun::compare
