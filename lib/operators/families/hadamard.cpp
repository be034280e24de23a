// llama::fast_hadamard_transform: rows times a Hadamard matrix, as SpinQuant uses it. Lengths are 2^k, scaled by
// 2^(-k/2), or 28 * 2^k, where the factor 28 is not scaled.
#include <algorithm>
#include <bit>
#include <cmath>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/families/families.h"
#include "operators/output.h"

namespace pterun::operators {
namespace {

constexpr DTypeSet kHadamardDTypes = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64};
constexpr std::int64_t kSpecial = 28;

// Butterflies over a power of two, then the scale.
template <typename T>
void transform_power(T* x, std::int64_t n, T scale) {
  for (std::int64_t half = 1; half < n; half *= 2) {
    for (std::int64_t start = 0; start < n; start += 2 * half) {
      for (std::int64_t i = start; i < start + half; ++i) {
        const T a = x[i];
        const T b = x[i + half];
        x[i] = a + b;
        x[i + half] = a - b;
      }
    }
  }
  for (std::int64_t i = 0; i < n; ++i)
    x[i] *= scale;
}

// Williamson's matrix of order 28: blocks A B C D / -B A -D C / -C D A -B / -D -C B A of symmetric circulants of
// order 7 with the first rows below.
int special_entry(std::int64_t row, std::int64_t column) {
  static constexpr int kFirstRows[4][7] = {
      {1, -1, -1, -1, -1, -1, -1}, {1, 1, -1, -1, -1, -1, 1}, {1, -1, 1, -1, -1, 1, -1}, {1, -1, -1, 1, 1, -1, -1}};
  static constexpr int kBlock[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
  static constexpr int kSign[4][4] = {{1, 1, 1, 1}, {-1, 1, -1, 1}, {-1, 1, 1, -1}, {-1, -1, 1, 1}};
  const std::int64_t r = row / 7;
  const std::int64_t c = column / 7;
  return kSign[r][c] * kFirstRows[kBlock[r][c]][(column - row % 7 + 7) % 7];
}

template <typename T>
void transform_row(T* x, std::int64_t n, std::int64_t power) {
  const T scale = static_cast<T>(1.0 / std::sqrt(static_cast<double>(power)));
  for (std::int64_t start = 0; start < n; start += power)
    transform_power(x + start, power, scale);
  if (power == n) return;
  for (std::int64_t i = 0; i < power; ++i) {
    T column[kSpecial];
    for (std::int64_t k = 0; k < kSpecial; ++k)
      column[k] = x[k * power + i];
    for (std::int64_t row = 0; row < kSpecial; ++row) {
      T sum{0};
      for (std::int64_t k = 0; k < kSpecial; ++k)
        sum += static_cast<T>(special_entry(row, k)) * column[k];
      x[row * power + i] = sum;
    }
  }
}

Result<void> fast_hadamard_transform(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(1));
  PTERUN_TRY(check_dtype(arguments, *input, kHadamardDTypes, "mat"));
  PTERUN_TRY(check_dtype_is(arguments, *out, input->dtype(), "out"));
  const std::int64_t n = input->rank() == 0 ? 0 : input->size(input->rank() - 1);
  const std::int64_t power = n > 0 && n % kSpecial == 0 ? n / kSpecial : n;
  if (input->rank() == 0 || (power & (power - 1)) != 0) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "the last dimension of mat " + input->describe() + " is neither 2^k nor 28 * 2^k"));
  }
  PTERUN_TRY(resize_output(arguments, *out, input->shape()));
  if (out->numel() == 0) return {};
  return visit_float_compute(input->dtype(), [&]<typename T>() -> Result<void> {
    PTERUN_ASSIGN(const T* x, compute_input<T>(context, *input));
    PTERUN_ASSIGN(ComputeOutput results, ComputeOutput::open(context, *out, kComputeOf<T>));
    T* rows = results.data<T>();
    const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, 8192 / n));
    context.threads->parallel_for(
        static_cast<std::size_t>(out->numel() / n), grain, [&](std::size_t begin, std::size_t end) {
          for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end); ++row) {
            std::copy_n(x + row * n, n, rows + row * n);
            transform_row(rows + row * n, n, power);
          }
        });
    return results.store(context);
  });
}

constexpr OperatorRow kRows[] = {
    {"llama::fast_hadamard_transform.out", kHadamardDTypes, fast_hadamard_transform},
};

}  // namespace

std::span<const OperatorRow> hadamard_family() {
  return kRows;
}

}  // namespace pterun::operators
