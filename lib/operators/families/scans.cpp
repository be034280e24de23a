// Running sums. Floats add up in double like eager's; integers modulo 2^64.
#include <algorithm>
#include <array>

#include "operators/along.h"
#include "operators/dims.h"
#include "operators/dtype_dispatch.h"
#include "operators/families/families.h"
#include "operators/promotion.h"

namespace pterun::operators {
namespace {

struct Scan {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  DType in_dtype = DType::kFloat32;
  DType out_dtype = DType::kFloat32;
  Along along;

  const std::byte* from(std::int64_t position) const {
    return in + position * static_cast<std::int64_t>(dtype_size(in_dtype));
  }
  std::byte* to(std::int64_t position) const {
    return out + position * static_cast<std::int64_t>(dtype_size(out_dtype));
  }
};

// Lines scanned side by side: one addition waits for the one before it only in its own line.
constexpr std::int64_t kLinesAtOnce = 4;

// Contiguous lines [begin, end). T is the type that inputs are converted to, State that of the sums.
template <typename T, typename State>
void scan_lines(const Scan& scan, std::int64_t begin, std::int64_t end) {
  constexpr auto kStep = static_cast<std::int64_t>(kBlock);
  alignas(64) std::array<std::array<T, kBlock>, kLinesAtOnce> x;
  alignas(64) std::array<std::array<State, kBlock>, kLinesAtOnce> sums;
  const LoadBlock load = load_block(scan.in_dtype, kComputeOf<T>);
  const StoreBlock store = store_block(kComputeOf<State>, scan.out_dtype);
  for (std::int64_t first = begin; first < end; first += kLinesAtOnce) {
    const std::int64_t lines = std::min(kLinesAtOnce, end - first);
    std::array<State, kLinesAtOnce> total{};
    for (std::int64_t start = 0; start < scan.along.count; start += kStep) {
      const auto count = static_cast<std::size_t>(std::min(kStep, scan.along.count - start));
      for (std::int64_t k = 0; k < lines; ++k)
        load(scan.from((first + k) * scan.along.count + start), 1, x[k].data(), count);
      if (lines == kLinesAtOnce) {
        for (std::size_t i = 0; i < count; ++i) {
          for (std::size_t k = 0; k < kLinesAtOnce; ++k)
            sums[k][i] = total[k] = wrap_add(total[k], static_cast<State>(x[k][i]));
        }
      } else {
        for (std::int64_t k = 0; k < lines; ++k) {
          for (std::size_t i = 0; i < count; ++i)
            sums[k][i] = total[k] = wrap_add(total[k], static_cast<State>(x[k][i]));
        }
      }
      for (std::int64_t k = 0; k < lines; ++k)
        store(sums[k].data(), scan.to((first + k) * scan.along.count + start), 1, count);
    }
  }
}

// Blocks of columns [begin, end) of [outer, inner / kBlock]: whole rows are added at a time.
template <typename T, typename State>
void scan_columns(const Scan& scan, std::int64_t begin, std::int64_t end) {
  constexpr auto kStep = static_cast<std::int64_t>(kBlock);
  alignas(64) std::array<T, kBlock> x;
  alignas(64) std::array<State, kBlock> sums;
  const LoadBlock load = load_block(scan.in_dtype, kComputeOf<T>);
  const StoreBlock store = store_block(kComputeOf<State>, scan.out_dtype);
  const std::int64_t chunks = (scan.along.inner + kStep - 1) / kStep;
  for (std::int64_t item = begin; item < end; ++item) {
    const std::int64_t column = item % chunks * kStep;
    const auto count = static_cast<std::size_t>(std::min(kStep, scan.along.inner - column));
    sums.fill(State{0});
    std::int64_t position = item / chunks * scan.along.count * scan.along.inner + column;
    for (std::int64_t row = 0; row < scan.along.count; ++row, position += scan.along.inner) {
      load(scan.from(position), 1, x.data(), count);
      for (std::size_t i = 0; i < count; ++i)
        sums[i] = wrap_add(sums[i], static_cast<State>(x[i]));
      store(sums.data(), scan.to(position), 1, count);
    }
  }
}

template <typename T>
void run_scan(ThreadPool& threads, const Scan& scan) {
  using State = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
  constexpr std::int64_t kGrainElements = 1 << 14;
  const bool lines = scan.along.inner == 1;
  const auto block = static_cast<std::int64_t>(kBlock);
  const std::int64_t columns = lines ? 1 : std::min(scan.along.inner, block);
  const std::int64_t items = scan.along.outer * (lines ? 1 : (scan.along.inner + block - 1) / block);
  const std::int64_t grain = kGrainElements / (scan.along.count * columns) / kLinesAtOnce * kLinesAtOnce + kLinesAtOnce;
  threads.parallel_for(items, grain, [&](std::size_t begin, std::size_t end) {
    (lines ? scan_lines<T, State> : scan_columns<T, State>)(scan, static_cast<std::int64_t>(begin),
                                                            static_cast<std::int64_t>(end));
  });
}

Result<void> cumsum(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(1));
  PTERUN_ASSIGN(const auto requested, arguments.optional_dtype(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(3));
  PTERUN_TRY(check_dtype(arguments, 0, *input, kAnyDType));
  const bool kept = is_floating(input->dtype()) || is_complex(input->dtype());
  const DType natural = kept ? input->dtype() : DType::kInt64;
  PTERUN_TRY(check_output_dtype(arguments, requested.value_or(natural), *output));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, input->rank()));
  PTERUN_TRY(resize_output(arguments, *output, input->shape()));
  if (input->numel() == 0) return {};
  Scan scan;
  scan.in_dtype = input->dtype();
  scan.out_dtype = output->dtype();
  scan.along = Along(input->shape(), dim);
  const bool to_integers = is_floating(input->dtype()) && !is_floating(output->dtype());
  if (to_integers || (is_complex(input->dtype()) && !is_complex(output->dtype()))) {  // converted first, as eager does
    scan.in_dtype = output->dtype();
    PTERUN_ASSIGN(scan.in, row_major_elements_as(context, *input, output->dtype()));
  } else {
    PTERUN_ASSIGN(scan.in, row_major_elements(context, *input));
  }
  PTERUN_ASSIGN(RowMajorOutput target, RowMajorOutput::open(context, *output));
  scan.out = target.data();
  if (is_complex(scan.in_dtype)) {  // pairs of numbers, scanned side by side
    PTERUN_TRY(check_same_dtype(arguments, *input, *output));
    scan.in_dtype = scan.out_dtype = complex_part(output->dtype());
    scan.along.inner *= 2;
  }
  visit_compute(scan.out_dtype, [&]<typename T>() { run_scan<T>(*context.threads, scan); });
  target.finish(context);
  return {};
}

constexpr OperatorRow kRows[] = {
    {"aten::cumsum.out", kAnyDType, cumsum},
};

}  // namespace

std::span<const OperatorRow> scans_family() {
  return kRows;
}

}  // namespace pterun::operators
