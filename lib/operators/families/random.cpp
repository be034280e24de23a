// rand, randn and native_dropout. Each call has a generator of its own that goes on from execution to execution, so
// that a run can be repeated exactly; the numbers are not PyTorch's.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/families/families.h"
#include "operators/output.h"

namespace pterun::operators {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014).
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u) {}

  // Uniform in [0, 1), in steps of 2^-24.
  float uniform() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<float>((z ^ (z >> 31)) >> 40) * 0x1p-24f;
  }

  // Normal with mean 0 and variance 1, by Box and Muller.
  float normal() {
    const float radius = std::sqrt(-2.0f * std::log(1.0f - uniform()));
    return radius * std::cos(2.0f * std::numbers::pi_v<float> * uniform());
  }

 private:
  std::uint64_t state_;
};

class RandomKernel : public Kernel {
 public:
  explicit RandomKernel(std::uint64_t seed) : generator_(seed) {}

 protected:
  Generator generator_;
};

template <bool kNormal>
class RandomFill final : public RandomKernel {
 public:
  using RandomKernel::RandomKernel;

  Result<void> execute(ExecuteContext& context, const Arguments& arguments) override {
    PTERUN_ASSIGN(const Shape size, arguments.int_list(0));
    PTERUN_ASSIGN(Tensor * out, arguments.tensor(1));
    PTERUN_TRY(check_dtype(arguments, *out, kFloats, "out"));
    PTERUN_TRY(resize_output(arguments, *out, size));
    PTERUN_ASSIGN(ComputeOutput values, ComputeOutput::open(context, *out, Compute::kFloat));
    // The largest value below 1 that float16 and bfloat16 hold: rounding must not make a 1.
    const float limit = out->dtype() == DType::kBFloat16 ? 0x1.FEp-1f : 0x1.FFCp-1f;
    const bool narrow = dtype_size(out->dtype()) == 2;
    for (std::int64_t i = 0; i < out->numel(); ++i) {
      const float value = kNormal ? generator_.normal() : generator_.uniform();
      values.data<float>()[i] = !kNormal && narrow ? std::min(value, limit) : value;
    }
    return values.store(context);
  }
};

class Dropout final : public RandomKernel {
 public:
  using RandomKernel::RandomKernel;

  Result<void> execute(ExecuteContext& context, const Arguments& arguments) override {
    PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
    PTERUN_ASSIGN(const double probability, arguments.number(1));
    const bool has_train = !arguments.is_none(2);
    PTERUN_ASSIGN(const bool train, has_train ? arguments.boolean(2) : Result<bool>(true));
    PTERUN_ASSIGN(Tensor * out, arguments.tensor(3));
    PTERUN_ASSIGN(Tensor * mask, arguments.tensor(4));
    PTERUN_TRY(check_dtype(arguments, *input, kFloats, "input"));
    PTERUN_TRY(check_dtype_is(arguments, *out, input->dtype(), "out"));
    PTERUN_TRY(check_dtype_is(arguments, *mask, DType::kBool, "mask"));
    if (!(probability >= 0.0 && probability <= 1.0)) {
      return fail(arguments.error(ErrorCode::kInvalidArgument,
                                  "the probability " + std::to_string(probability) + " is not between 0 and 1"));
    }
    PTERUN_TRY(resize_output(arguments, *out, input->shape()));
    PTERUN_TRY(resize_output(arguments, *mask, input->shape()));
    return visit_float_compute(
        input->dtype(), [&]<typename T>() { return run<T>(context, train ? probability : 0.0, *input, *out, *mask); });
  }

 private:
  template <typename T>
  Result<void> run(ExecuteContext& context, double probability, const Tensor& input, Tensor& out, Tensor& mask) {
    PTERUN_ASSIGN(const T* x, compute_input<T>(context, input));
    PTERUN_ASSIGN(ComputeOutput values, ComputeOutput::open(context, out, kComputeOf<T>));
    PTERUN_ASSIGN(ComputeOutput kept, ComputeOutput::open(context, mask, Compute::kTruth));
    const T scale = probability == 1.0 ? T{0} : static_cast<T>(1.0 / (1.0 - probability));
    for (std::int64_t i = 0; i < input.numel(); ++i) {
      const bool keep = probability == 0.0 || static_cast<double>(generator_.uniform()) >= probability;
      kept.data<Truth>()[i] = keep && probability != 1.0 ? 1 : 0;
      // A product, so that NaN and infinity stay visible as in eager.
      values.data<T>()[i] = probability == 0.0 ? x[i] : x[i] * static_cast<T>(kept.data<Truth>()[i]) * scale;
    }
    PTERUN_TRY(values.store(context));
    return kept.store(context);
  }
};

template <typename Random>
Result<std::unique_ptr<Kernel>> prepare_random(PrepareContext& context, const Arguments&) {
  return std::make_unique<Random>(context.random_stream + 1);
}

constexpr OperatorRow kRows[] = {
    {"aten::rand.out", kFloats, nullptr, prepare_random<RandomFill<false>>},
    {"aten::randn.out", kFloats, nullptr, prepare_random<RandomFill<true>>},
    {"aten::native_dropout.out", kFloats, nullptr, prepare_random<Dropout>},
};

}  // namespace

std::span<const OperatorRow> random_family() {
  return kRows;
}

}  // namespace pterun::operators
