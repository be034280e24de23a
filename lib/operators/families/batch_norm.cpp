// Batch normalisation, with given or computed statistics: each channel is scaled and shifted.
#include <algorithm>
#include <cmath>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/families/families.h"
#include "operators/output.h"
#include "operators/row_statistics.h"

namespace pterun::operators {
namespace {

constexpr std::int64_t kGrainElements = 16384;

struct BatchNorm {
  const Tensor* input = nullptr;
  const Tensor* weight = nullptr;
  const Tensor* bias = nullptr;
  Tensor* running_mean = nullptr;  // null: none
  Tensor* running_var = nullptr;
  bool training = false;
  double momentum = 0.0;
  double eps = 0.0;
  Tensor* out = nullptr;
  Tensor* save_mean = nullptr;
  Tensor* save_invstd = nullptr;
  std::int64_t batch = 0, channels = 0, positions = 1;
};

// Mean and biased variance of each channel.
template <typename T>
struct Statistics {
  T* mean = nullptr;
  T* variance = nullptr;
};

template <typename T>
struct ChannelMomentsLoop {
  [[gnu::always_inline]] static inline void run(const T* x, std::int64_t batch, std::int64_t plane_step,
                                                std::int64_t positions, T* mean, T* variance) {
    const double count = static_cast<double>(batch) * static_cast<double>(positions);
    double sum = 0.0;
    for (std::int64_t n = 0; n < batch; ++n)
      sum += static_cast<double>(row_sum<T, false>(x + n * plane_step, positions, T{0}));
    *mean = static_cast<T>(sum / count);
    double squares = 0.0;
    for (std::int64_t n = 0; n < batch; ++n)
      squares += static_cast<double>(row_sum<T, true>(x + n * plane_step, positions, *mean));
    *variance = static_cast<T>(squares / count);
  }
};

template <typename T>
struct PlaneLoop {
  [[gnu::always_inline]] static inline void run(const T* x, std::int64_t n, T scale, T shift, T* out) {
    row_scale_shift(x, n, scale, shift, out);
  }
};

// Pixels with the channels innermost.
template <typename T>
struct PixelLoop {
  [[gnu::always_inline]] static inline void run(const T* x, std::int64_t pixels, std::int64_t channels, const T* scale,
                                                const T* shift, T* out) {
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel, x += channels, out += channels) {
      std::int64_t c = 0;
      for (; c + kWidth<T> <= channels; c += kWidth<T>) {
        vector_at(out + c) = vector_at(x + c) * vector_at(scale + c) + vector_at(shift + c);
      }
      for (; c < channels; ++c)
        out[c] = x[c] * scale[c] + shift[c];
    }
  }
};

template <typename T>
Result<T*> allocate(ExecuteContext& context, std::int64_t count) {
  PTERUN_ASSIGN(std::byte * memory, context.scratch->allocate(static_cast<std::size_t>(count) * sizeof(T)));
  return reinterpret_cast<T*>(memory);
}

template <typename T>
Result<Statistics<T>> compute_statistics(ExecuteContext& context, const BatchNorm& call, const T* x) {
  Statistics<T> statistics;
  PTERUN_ASSIGN(statistics.mean, allocate<T>(context, call.channels));
  PTERUN_ASSIGN(statistics.variance, allocate<T>(context, call.channels));
  const std::int64_t elements = std::max<std::int64_t>(1, call.batch * call.positions);
  const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, kGrainElements / elements));
  context.threads->parallel_for(
      static_cast<std::size_t>(call.channels), grain, [&](std::size_t begin, std::size_t end) {
        for (auto c = static_cast<std::int64_t>(begin); c < static_cast<std::int64_t>(end); ++c) {
          call_vectorised<ChannelMomentsLoop<T>>(x + c * call.positions, call.batch, call.channels * call.positions,
                                                 call.positions, statistics.mean + c, statistics.variance + c);
        }
      });
  return statistics;
}

// running = momentum * new + (1 - momentum) * running, with the unbiased variance.
template <typename T>
void update_running(const BatchNorm& call, const Statistics<T>& statistics) {
  const auto count = static_cast<double>(call.batch * call.positions);
  const auto blend = [&](Tensor& tensor, std::int64_t channel, double value) {
    std::byte* element =
        tensor.mutable_data<std::byte>() + static_cast<std::size_t>(channel) * dtype_size(tensor.dtype());
    const double old = load_one<double>(tensor.dtype(), element);
    store_one<double>(tensor.dtype(), call.momentum * value + (1.0 - call.momentum) * old, element);
  };
  for (std::int64_t c = 0; c < call.channels; ++c) {
    if (call.running_mean != nullptr) blend(*call.running_mean, c, static_cast<double>(statistics.mean[c]));
    if (call.running_var != nullptr) {
      blend(*call.running_var, c, static_cast<double>(statistics.variance[c]) * count / (count - 1.0));
    }
  }
}

template <typename T>
Result<void> save_statistics(ExecuteContext& context, const BatchNorm& call, const Statistics<T>& statistics) {
  PTERUN_ASSIGN(ComputeOutput mean, ComputeOutput::open(context, *call.save_mean, kComputeOf<T>));
  PTERUN_ASSIGN(ComputeOutput invstd, ComputeOutput::open(context, *call.save_invstd, kComputeOf<T>));
  for (std::int64_t c = 0; c < call.channels; ++c) {
    mean.data<T>()[c] = statistics.mean[c];
    invstd.data<T>()[c] = T{1} / std::sqrt(statistics.variance[c] + static_cast<T>(call.eps));
  }
  PTERUN_TRY(mean.store(context));
  return invstd.store(context);
}

bool is_channels_last(const Tensor& tensor) {
  return tensor.rank() == 4 && same_layout(tensor.shape(), tensor.dim_order(), DimOrder::channels_last());
}

template <typename T>
void scale_and_shift(ThreadPool& threads, const BatchNorm& call, bool channels_last, const T* x, const T* scale,
                     const T* shift, T* out) {
  const std::int64_t row = channels_last ? call.channels : call.positions;
  const std::int64_t rows = channels_last ? call.batch * call.positions : call.batch * call.channels;
  const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, kGrainElements / row));
  threads.parallel_for(static_cast<std::size_t>(rows), grain, [&](std::size_t begin, std::size_t end) {
    const auto first = static_cast<std::int64_t>(begin);
    const auto count = static_cast<std::int64_t>(end) - first;
    if (channels_last) {
      call_vectorised<PixelLoop<T>>(x + first * row, count, row, scale, shift, out + first * row);
      return;
    }
    for (std::int64_t plane = first; plane < first + count; ++plane) {
      const std::int64_t c = plane % call.channels;
      call_vectorised<PlaneLoop<T>>(x + plane * row, row, scale[c], shift[c], out + plane * row);
    }
  });
}

template <typename T>
Result<void> run_batch_norm(ExecuteContext& context, const BatchNorm& call) {
  PTERUN_ASSIGN(const T* weight, optional_compute_input<T>(context, call.weight));
  PTERUN_ASSIGN(const T* bias, optional_compute_input<T>(context, call.bias));
  const bool native = is_native(call.input->dtype(), kComputeOf<T>);
  const bool last = native && !call.training && is_channels_last(*call.input) && is_channels_last(*call.out);
  const T* x = call.input->data<T>();
  if (!last) {
    PTERUN_ASSIGN(x, compute_input<T>(context, *call.input));
  }
  PTERUN_ASSIGN(ComputeOutput out, ComputeOutput::open(context, *call.out, kComputeOf<T>));
  T* results = last ? call.out->mutable_data<T>() : out.data<T>();
  PTERUN_ASSIGN(T * scale, allocate<T>(context, call.channels));
  PTERUN_ASSIGN(T * shift, allocate<T>(context, call.channels));
  const T* means = nullptr;
  const T* variances = nullptr;
  if (call.training) {
    PTERUN_ASSIGN(const Statistics<T> statistics, compute_statistics(context, call, x));
    update_running(call, statistics);
    PTERUN_TRY(save_statistics(context, call, statistics));
    means = statistics.mean;
    variances = statistics.variance;
  } else {
    PTERUN_ASSIGN(means, compute_input<T>(context, *call.running_mean));
    PTERUN_ASSIGN(variances, compute_input<T>(context, *call.running_var));
  }
  for (std::int64_t c = 0; c < call.channels; ++c) {
    const T invstd = T{1} / std::sqrt(variances[c] + static_cast<T>(call.eps));
    scale[c] = weight == nullptr ? invstd : invstd * weight[c];
    shift[c] = (bias == nullptr ? T{0} : bias[c]) - means[c] * scale[c];
  }
  if (call.input->numel() == 0) return {};
  scale_and_shift(*context.threads, call, last, x, scale, shift, results);
  return last ? Result<void>{} : out.store(context);
}

Result<void> execute(ExecuteContext& context, const Arguments& arguments, BatchNorm& call) {
  const Tensor& input = *call.input;
  PTERUN_TRY(check_dtype(arguments, input, kFloats, "input"));
  PTERUN_TRY(check_dtype_is(arguments, *call.out, input.dtype(), "out"));
  if (input.rank() < 2) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "input " + input.describe() + " has no channels"));
  }
  call.batch = input.size(0);
  call.channels = input.size(1);
  for (std::size_t i = 2; i < input.rank(); ++i)
    call.positions *= input.size(i);
  const std::pair<const Tensor*, const char*> per_channel[] = {{call.weight, "weight"},
                                                               {call.bias, "bias"},
                                                               {call.running_mean, "running_mean"},
                                                               {call.running_var, "running_var"}};
  for (const auto& [tensor, name] : per_channel) {
    if (tensor == nullptr) continue;
    PTERUN_TRY(check_shape(arguments, *tensor, {call.channels}, name));
    PTERUN_TRY(check_dtype(arguments, *tensor, kFloats, name));
  }
  if (!call.training && (call.running_mean == nullptr || call.running_var == nullptr)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "without training, running statistics are needed"));
  }
  const Shape saved = call.training ? Shape{call.channels} : Shape{0};
  PTERUN_TRY(resize_output(arguments, *call.out, input.shape()));
  PTERUN_TRY(resize_output(arguments, *call.save_mean, saved));
  PTERUN_TRY(resize_output(arguments, *call.save_invstd, saved));
  return visit_float_compute(input.dtype(), [&]<typename T>() { return run_batch_norm<T>(context, call); });
}

// The arguments from `first` on: momentum, eps, and the three outputs.
Result<void> read_tail(const Arguments& arguments, std::size_t first, BatchNorm& call) {
  PTERUN_ASSIGN(call.momentum, arguments.number(first));
  PTERUN_ASSIGN(call.eps, arguments.number(first + 1));
  PTERUN_ASSIGN(call.out, arguments.tensor(first + 2));
  PTERUN_ASSIGN(call.save_mean, arguments.tensor(first + 3));
  PTERUN_ASSIGN(call.save_invstd, arguments.tensor(first + 4));
  return {};
}

Result<BatchNorm> read_head(const Arguments& arguments, bool statistics) {
  BatchNorm call;
  PTERUN_ASSIGN(call.input, arguments.tensor(0));
  PTERUN_ASSIGN(call.weight, arguments.optional_tensor(1));
  PTERUN_ASSIGN(call.bias, arguments.optional_tensor(2));
  if (!statistics) return call;
  PTERUN_ASSIGN(call.running_mean, arguments.optional_tensor(3));
  PTERUN_ASSIGN(call.running_var, arguments.optional_tensor(4));
  return call;
}

Result<void> no_training(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(BatchNorm call, read_head(arguments, true));
  PTERUN_TRY(read_tail(arguments, 5, call));
  return execute(context, arguments, call);
}

Result<void> legit(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(BatchNorm call, read_head(arguments, true));
  PTERUN_ASSIGN(call.training, arguments.boolean(5));
  PTERUN_TRY(read_tail(arguments, 6, call));
  return execute(context, arguments, call);
}

Result<void> legit_no_stats(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(BatchNorm call, read_head(arguments, false));
  PTERUN_ASSIGN(call.training, arguments.boolean(3));
  PTERUN_TRY(read_tail(arguments, 4, call));
  return execute(context, arguments, call);
}

constexpr OperatorRow kRows[] = {
    {"aten::_native_batch_norm_legit_no_training.out", kFloats, no_training},
    {"aten::_native_batch_norm_legit.out", kFloats, legit},
    {"aten::_native_batch_norm_legit.no_stats_out", kFloats, legit_no_stats},
};

}  // namespace

std::span<const OperatorRow> batch_norm_family() {
  return kRows;
}

}  // namespace pterun::operators
