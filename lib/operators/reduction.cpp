// Loops are split into kept and reduced ones, each sorted by the input's strides and merged. Where the innermost
// memory is reduced, outputs are made one by one from rows; where it is kept, many are made at once, column by column.
#include "operators/reduction.h"

#include <algorithm>
#include <array>

#include "operators/dims.h"

namespace pterun::operators {
namespace {

constexpr std::size_t kGrainElements = 1 << 15;  // inputs worth a thread's while
constexpr std::int64_t kShortRow = 8;

struct Loop {
  std::int64_t count = 1;
  std::int64_t in_step = 0;
  std::int64_t out_step = 0;
};

struct Loops {
  std::array<Loop, kMaxRank> dims;
  std::size_t rank = 0;

  // Keeps loops sorted by the input's step, outermost first; loops of one are left out.
  void add(const Loop& loop) {
    if (loop.count == 1) return;
    std::size_t i = rank++;
    for (; i > 0 && dims[i - 1].in_step < loop.in_step; --i)
      dims[i] = dims[i - 1];
    dims[i] = loop;
  }
  void merge() {
    std::size_t merged = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      Loop& outer = dims[merged == 0 ? 0 : merged - 1];
      const Loop loop = dims[i];
      if (merged > 0 && outer.in_step == loop.in_step * loop.count && outer.out_step == loop.out_step * loop.count) {
        outer = {outer.count * loop.count, loop.in_step, loop.out_step};
      } else {
        dims[merged++] = loop;
      }
    }
    rank = merged;
  }
  std::int64_t count() const {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < rank; ++i)
      product *= dims[i].count;
    return product;
  }
  // Takes the innermost loop out; a loop of one when there is none.
  Loop take_inner() { return rank == 0 ? Loop{} : dims[--rank]; }
};

// A position in nested loops.
class Odometer {
 public:
  Odometer(const Loops& loops, std::int64_t position) : loops_(loops) {
    for (std::size_t i = loops.rank; i-- > 0 && position > 0;) {  // at 0 a loop may be empty
      index_[i] = position % loops.dims[i].count;
      position /= loops.dims[i].count;
      in += index_[i] * loops.dims[i].in_step;
      out += index_[i] * loops.dims[i].out_step;
    }
  }
  void next() {
    for (std::size_t i = loops_.rank; i-- > 0;) {
      const Loop& loop = loops_.dims[i];
      in += loop.in_step;
      out += loop.out_step;
      if (++index_[i] < loop.count) return;
      in -= loop.in_step * loop.count;
      out -= loop.out_step * loop.count;
      index_[i] = 0;
    }
  }
  std::int64_t in = 0;
  std::int64_t out = 0;

 private:
  const Loops& loops_;
  std::array<std::int64_t, kMaxRank> index_{};
};

struct Plan {
  const ReductionKernel* kernel = nullptr;
  double parameter = 0;
  Loops kept;     // without `inner` in column mode
  Loops reduced;  // without `inner` in row mode
  Loop inner;     // row mode: reduced; column mode: kept
  bool columns = false;
  std::int64_t folded = 1;
  std::int64_t chunks = 1;  // column mode: blocks of the inner loop
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::int64_t in_size = 0;
  std::int64_t out_size = 0;
  LoadBlock load = nullptr;
  StoreBlock store = nullptr;
  bool native = false;  // elements of the input are values of the kernel
};

// `count` input elements as values of the kernel, in place when they are already.
const void* load_values(const Plan& plan, std::int64_t position, std::int64_t step, std::size_t count, void* buffer) {
  const std::byte* from = plan.in + position * plan.in_size;
  if (plan.native && (step == 1 || count == 1)) return from;
  plan.load(from, step, buffer, count);
  return buffer;
}

void run_rows(const Plan& plan, std::int64_t begin, std::int64_t end) {
  alignas(64) std::array<std::byte, kBlock * 8> buffer;
  alignas(8) std::array<std::byte, ReductionKernel::kMaxStateSize> state;
  alignas(8) std::array<std::byte, 8> result;
  Odometer kept(plan.kept, begin);
  const std::int64_t outer = plan.reduced.count();
  for (std::int64_t item = begin; item < end; ++item, kept.next()) {
    plan.kernel->start(state.data(), 1);
    Odometer reduced(plan.reduced, 0);
    for (std::int64_t row = 0; row < outer; ++row, reduced.next()) {
      for (std::int64_t i = 0; i < plan.inner.count; i += kBlock) {
        const auto count = static_cast<std::size_t>(std::min<std::int64_t>(kBlock, plan.inner.count - i));
        const std::int64_t position = kept.in + reduced.in + i * plan.inner.in_step;
        plan.kernel->fold_row(state.data(), load_values(plan, position, plan.inner.in_step, count, buffer.data()),
                              count);
      }
    }
    plan.kernel->finish(state.data(), 1, plan.folded, plan.parameter, result.data());
    plan.store(result.data(), plan.out + kept.out * plan.out_size, 1, 1);
  }
}

void run_columns(const Plan& plan, std::int64_t begin, std::int64_t end) {
  alignas(64) std::array<std::byte, kBlock * 8> buffer;
  alignas(64) std::array<std::byte, kBlock * ReductionKernel::kMaxStateSize> states;
  Odometer kept(plan.kept, begin / plan.chunks);
  const std::int64_t outer = plan.reduced.count();
  std::int64_t chunk = begin % plan.chunks;
  for (std::int64_t item = begin; item < end; ++item) {
    const std::int64_t first = chunk * static_cast<std::int64_t>(kBlock);
    const auto count = static_cast<std::size_t>(std::min<std::int64_t>(kBlock, plan.inner.count - first));
    plan.kernel->start(states.data(), count);
    Odometer reduced(plan.reduced, 0);
    for (std::int64_t row = 0; row < outer; ++row, reduced.next()) {
      const std::int64_t position = kept.in + reduced.in + first * plan.inner.in_step;
      plan.kernel->fold_columns(states.data(), load_values(plan, position, plan.inner.in_step, count, buffer.data()),
                                count);
    }
    plan.kernel->finish(states.data(), count, plan.folded, plan.parameter, buffer.data());
    const std::int64_t out = kept.out + first * plan.inner.out_step;
    plan.store(buffer.data(), plan.out + out * plan.out_size, plan.inner.out_step, count);
    if (++chunk == plan.chunks) {
      chunk = 0;
      kept.next();
    }
  }
}

Plan make_plan(const Tensor& input, std::uint32_t dims, bool keepdim, const ReductionKernel& kernel, Tensor& output) {
  Plan plan;
  plan.kernel = &kernel;
  const Strides in = input.strides();
  const Strides out = output.strides();
  std::size_t out_dim = 0;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    const bool reduced = ((dims >> i) & 1u) != 0;
    const Loop loop = {input.size(i), in[i], reduced ? 0 : out[out_dim]};
    if (!reduced || keepdim) ++out_dim;
    (reduced ? plan.reduced : plan.kept).add(loop);
  }
  plan.kept.merge();
  plan.reduced.merge();
  plan.folded = plan.reduced.count();
  const Loop kept_inner = plan.kept.rank > 0 ? plan.kept.dims[plan.kept.rank - 1] : Loop{};
  const Loop reduced_inner = plan.reduced.rank > 0 ? plan.reduced.dims[plan.reduced.rank - 1] : Loop{};
  const bool kept_inside = kept_inner.in_step < reduced_inner.in_step || plan.folded < kShortRow;
  plan.columns = kept_inner.count > 1 && kept_inside;
  plan.inner = plan.columns ? plan.kept.take_inner() : plan.reduced.take_inner();
  if (plan.columns)
    plan.chunks = (plan.inner.count + static_cast<std::int64_t>(kBlock) - 1) / static_cast<std::int64_t>(kBlock);
  plan.in = input.data<std::byte>();
  plan.out = output.mutable_data<std::byte>();
  plan.in_size = static_cast<std::int64_t>(dtype_size(input.dtype()));
  plan.out_size = static_cast<std::int64_t>(dtype_size(output.dtype()));
  plan.load = load_block(input.dtype(), kernel.load);
  plan.store = store_block(kernel.result, output.dtype());
  plan.native = is_native(input.dtype(), kernel.load) ||
                (kernel.load == Compute::kTruth && dtype_size(input.dtype()) == 1);  // folding tests for 0
  return plan;
}

}  // namespace

Result<std::uint32_t> reduced_dims(const Arguments& arguments, const Shape& dims, std::size_t rank, bool empty_is_all) {
  if (dims.rank() == 0) return empty_is_all ? ~0u : 0u;
  return wrap_dims(arguments, dims, rank);
}

Result<std::uint32_t> reduced_dims_argument(const Arguments& arguments, std::size_t argument, std::size_t rank,
                                            bool empty_is_all) {
  if (arguments.is_none(argument)) return ~0u;
  PTERUN_ASSIGN(const Shape dims, arguments.int_list(argument));
  return reduced_dims(arguments, dims, rank, empty_is_all);
}

Shape reduced_shape(const Shape& shape, std::uint32_t dims, bool keepdim) {
  Shape reduced;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (((dims >> i) & 1u) == 0) {
      reduced.push_back(shape[i]);
    } else if (keepdim) {
      reduced.push_back(1);
    }
  }
  return reduced;
}

Result<void> reduce(ExecuteContext& context, const Arguments& arguments, const Tensor& input, std::uint32_t dims,
                    bool keepdim, const ReductionKernel& kernel, double parameter, Tensor& output) {
  PTERUN_TRY(resize_output(arguments, output, reduced_shape(input.shape(), dims, keepdim)));
  if (output.numel() == 0) return {};
  Plan plan = make_plan(input, dims, keepdim, kernel, output);
  plan.parameter = parameter;
  const std::int64_t items = plan.kept.count() * plan.chunks;
  const auto per_item = static_cast<std::size_t>(std::max<std::int64_t>(1, input.numel() / items));
  const std::size_t grain = std::max<std::size_t>(1, kGrainElements / per_item);
  context.threads->parallel_for(static_cast<std::size_t>(items), grain, [&](std::size_t begin, std::size_t end) {
    (plan.columns ? run_columns : run_rows)(plan, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end));
  });
  return {};
}

}  // namespace pterun::operators
