// Matrix products: mm, bmm, addmm, linear. float32 goes to XNNPACK, with the weights packed at prepare when they are
// constants; the rest, and products of few rows, to the blocked multiplication of gemm.h.
#include <algorithm>
#include <limits>
#include <memory>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/dims.h"
#include "operators/families/families.h"
#include "operators/gemm.h"
#include "operators/output.h"
#include "operators/xnnpack_operator.h"

namespace pterun::operators {
namespace {

enum class Form : std::uint8_t { kMm, kBmm, kAddmm, kLinear };

// out = alpha * a b + beta * addend, with b as [depth, columns] or, for linear, [columns, depth].
struct Product {
  const Tensor* a = nullptr;
  const Tensor* b = nullptr;
  const Tensor* addend = nullptr;  // null: none
  Tensor* out = nullptr;
  Scalar beta = Scalar(std::int64_t{1});
  Scalar alpha = Scalar(std::int64_t{1});
  std::int64_t batch = 1;
  GemmSize size;
  Shape out_shape;

  double multiplications() const {
    return static_cast<double>(batch) * static_cast<double>(size.rows) * static_cast<double>(size.columns) *
           static_cast<double>(size.depth);
  }
};

constexpr DTypeSet kMatmulDTypes = kIntegers | kFloats | DTypeSet{DType::kComplex64, DType::kComplex128};

Result<Product> read_product(const Arguments& arguments, Form form) {
  Product product;
  const std::size_t first = form == Form::kAddmm ? 1 : 0;
  PTERUN_ASSIGN(product.a, arguments.tensor(first));
  PTERUN_ASSIGN(product.b, arguments.tensor(first + 1));
  switch (form) {
    case Form::kAddmm: {
      PTERUN_ASSIGN(product.addend, arguments.tensor(0));
      PTERUN_ASSIGN(product.beta, arguments.scalar(3));
      PTERUN_ASSIGN(product.alpha, arguments.scalar(4));
      PTERUN_ASSIGN(product.out, arguments.tensor(5));
      break;
    }
    case Form::kLinear: {
      PTERUN_ASSIGN(product.addend, arguments.optional_tensor(2));
      PTERUN_ASSIGN(product.out, arguments.tensor(3));
      break;
    }
    case Form::kMm:
    case Form::kBmm: {
      PTERUN_ASSIGN(product.out, arguments.tensor(2));
      break;
    }
  }
  PTERUN_TRY(check_dtype(arguments, *product.a, kMatmulDTypes, "the first matrix"));
  PTERUN_TRY(check_dtype_is(arguments, *product.b, product.a->dtype(), "the second matrix"));
  PTERUN_TRY(check_dtype_is(arguments, *product.out, product.a->dtype(), "out"));
  if (product.addend != nullptr) {
    PTERUN_TRY(check_dtype_is(arguments, *product.addend, product.a->dtype(), "the addend"));
  }
  return product;
}

Error shapes_do_not_fit(const Arguments& arguments, const Product& product) {
  return arguments.error(ErrorCode::kInvalidArgument,
                         "cannot multiply " + product.a->describe() + " and " + product.b->describe());
}

// Whether the addend broadcasts to the output's last two dimensions.
bool addend_fits(const Product& product) {
  const Tensor& addend = *product.addend;
  const std::size_t rank = product.out_shape.rank();
  if (addend.rank() > std::min<std::size_t>(rank, 2)) return false;
  for (std::size_t back = 1; back <= addend.rank(); ++back) {
    const std::int64_t size = addend.size(addend.rank() - back);
    if (size != 1 && size != product.out_shape[rank - back]) return false;
  }
  return true;
}

Result<void> measure(const Arguments& arguments, Form form, Product& product) {
  const Tensor& a = *product.a;
  const Tensor& b = *product.b;
  if (form == Form::kLinear) {
    if (a.rank() == 0 || b.rank() == 0 || b.rank() > 2 || a.size(a.rank() - 1) != b.size(b.rank() - 1)) {
      return fail(shapes_do_not_fit(arguments, product));
    }
    const std::int64_t columns = b.rank() == 2 ? b.size(0) : 1;
    product.out_shape = Shape(a.shape().span().first(a.rank() - 1));
    product.size = {product.out_shape.numel(), columns, a.size(a.rank() - 1)};
    if (b.rank() == 2) product.out_shape.push_back(columns);
  } else {
    const std::size_t rank = form == Form::kBmm ? 3 : 2;
    PTERUN_TRY(check_rank(arguments, a, rank, "the first matrix"));
    PTERUN_TRY(check_rank(arguments, b, rank, "the second matrix"));
    product.size = {a.size(rank - 2), b.size(rank - 1), a.size(rank - 1)};
    product.out_shape = {product.size.rows, product.size.columns};
    if (form == Form::kBmm) {
      product.batch = a.size(0);
      product.out_shape = {product.batch, product.size.rows, product.size.columns};
    }
    if (b.size(rank - 2) != product.size.depth || (rank == 3 && b.size(0) != product.batch)) {
      return fail(shapes_do_not_fit(arguments, product));
    }
  }
  if (product.addend != nullptr && !addend_fits(product)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, product.addend->describe() + " does not broadcast to " +
                                                                 product.out_shape.to_string()));
  }
  return {};
}

template <typename T>
bool is_one(const Scalar& scalar) {
  return scalar_as<T>(scalar) == T{1};
}

// out = alpha * out + beta * addend. A beta of 0 ignores the addend, NaN and all.
template <typename T>
void scale_and_add(ThreadPool& threads, const Product& product, const T* addend, T* out) {
  const T alpha = scalar_as<T>(product.alpha);
  const T beta = scalar_as<T>(product.beta);
  if (beta == T{0}) addend = nullptr;
  if (addend == nullptr && alpha == T{1}) return;
  std::int64_t row_step = 0;
  std::int64_t column_step = 0;
  if (addend != nullptr) {
    const Shape& shape = product.addend->shape();
    if (shape.rank() >= 1 && shape[shape.rank() - 1] != 1) column_step = 1;
    if (shape.rank() == 2 && shape[0] != 1) row_step = shape[1];
  }
  const std::int64_t columns = product.size.columns;
  const auto rows = static_cast<std::size_t>(product.batch * product.size.rows);
  const std::size_t grain = std::max<std::size_t>(1, 32768 / static_cast<std::size_t>(columns));
  threads.parallel_for(rows, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      T* line = out + static_cast<std::int64_t>(row) * columns;
      if (alpha != T{1}) {
        for (std::int64_t i = 0; i < columns; ++i)
          line[i] = wrap_mul(alpha, line[i]);
      }
      if (addend == nullptr) continue;
      const T* from = addend + static_cast<std::int64_t>(row) * row_step;
      if (beta == T{1} && column_step == 1) {
        for (std::int64_t i = 0; i < columns; ++i)
          line[i] = wrap_add(line[i], from[i]);
      } else {
        for (std::int64_t i = 0; i < columns; ++i) {
          line[i] = wrap_add(line[i], wrap_mul(beta, from[i * column_step]));
        }
      }
    }
  });
}

// The matrix `item` of a batch; a tensor of rank 1 is one row.
MatrixView matrix_view(const Tensor& tensor, std::int64_t item) {
  const Strides strides = tensor.strides();
  const std::size_t rank = tensor.rank();
  MatrixView view{tensor.raw_data(), tensor.dtype(), rank >= 2 ? strides[rank - 2] : 0, strides[rank - 1]};
  if (rank == 3) {
    const std::int64_t offset = item * strides[0] * static_cast<std::int64_t>(dtype_size(tensor.dtype()));
    view.data = static_cast<const std::byte*>(view.data) + offset;
  }
  return view;
}

template <typename T>
Result<void> multiply_blocked(ExecuteContext& context, Form form, const Product& product) {
  PTERUN_ASSIGN(ComputeOutput out, ComputeOutput::open(context, *product.out, kComputeOf<T>));
  PTERUN_ASSIGN(const T* addend, optional_compute_input<T>(context, product.addend));
  T* sums = out.data<T>();
  const GemmSize& size = product.size;
  std::fill_n(sums, product.batch * size.rows * size.columns, T{0});
  MatrixView a;
  if (form == Form::kLinear) {
    PTERUN_ASSIGN(const T* rows, compute_input<T>(context, *product.a));
    const DType dtype = kComputeOf<T> == Compute::kFloat    ? DType::kFloat32
                        : kComputeOf<T> == Compute::kDouble ? DType::kFloat64
                                                            : DType::kInt64;
    a = {rows, dtype, size.depth, 1};
  }
  for (std::int64_t item = 0; item < product.batch; ++item) {
    if (form != Form::kLinear) a = matrix_view(*product.a, item);
    MatrixView b = matrix_view(*product.b, item);
    if (form == Form::kLinear) std::swap(b.row_stride, b.column_stride);
    gemm_accumulate<T>(*context.threads, size, a, b, sums + item * size.rows * size.columns, size.columns);
  }
  scale_and_add<T>(*context.threads, product, addend, sums);
  return out.store(context);
}

// The real or imaginary parts of a complex matrix.
MatrixView part_view(const MatrixView& view, int part) {
  const DType dtype = complex_part(view.dtype);
  const std::byte* data = static_cast<const std::byte*>(view.data) + static_cast<std::size_t>(part) * dtype_size(dtype);
  return {data, dtype, 2 * view.row_stride, 2 * view.column_stride};
}

// (a + bi)(c + di) = (ac - bd) + (ad + bc)i, as four real products. The parts of out are arrays of T in `sums`.
template <typename T>
void multiply_parts(ThreadPool& threads, const GemmSize& size, const MatrixView& a, const MatrixView& b, T* sums) {
  const std::int64_t count = size.rows * size.columns;
  std::fill_n(sums, 2 * count, T{0});
  gemm_accumulate<T>(threads, size, part_view(a, 1), part_view(b, 1), sums, size.columns);
  for (std::int64_t i = 0; i < count; ++i)
    sums[i] = -sums[i];
  gemm_accumulate<T>(threads, size, part_view(a, 0), part_view(b, 0), sums, size.columns);
  gemm_accumulate<T>(threads, size, part_view(a, 0), part_view(b, 1), sums + count, size.columns);
  gemm_accumulate<T>(threads, size, part_view(a, 1), part_view(b, 0), sums + count, size.columns);
}

// sums = alpha sums + beta addend; the factors are real, so that each part is by itself. As eager, beta 0 drops NaN.
template <typename T>
Result<void> add_complex(ExecuteContext& context, const Product& product, T* sums) {
  PTERUN_ASSIGN(const std::byte* addend, broadcast_elements(context, *product.addend, product.out->shape()));
  const T* addends = reinterpret_cast<const T*>(addend);
  const T alpha = scalar_as<T>(product.alpha);
  const T beta = scalar_as<T>(product.beta);
  for (std::int64_t i = 0; i < 2 * product.out->numel(); ++i)
    sums[i] = beta == T{0} ? alpha * sums[i] : alpha * sums[i] + beta * addends[i];
  return {};
}

template <typename T>
Result<void> multiply_complex(ExecuteContext& context, Form form, const Product& product) {
  PTERUN_ASSIGN(RowMajorOutput out, RowMajorOutput::open(context, *product.out));
  const GemmSize& size = product.size;
  const std::int64_t count = size.rows * size.columns;
  PTERUN_ASSIGN(std::byte * memory, context.scratch->allocate(static_cast<std::size_t>(2 * count) * sizeof(T)));
  T* sums = reinterpret_cast<T*>(memory);
  MatrixView a;
  if (form == Form::kLinear) {
    PTERUN_ASSIGN(const std::byte* rows, row_major_elements(context, *product.a));
    a = {rows, product.a->dtype(), size.depth, 1};
  }
  for (std::int64_t item = 0; item < product.batch; ++item) {
    if (form != Form::kLinear) a = matrix_view(*product.a, item);
    MatrixView b = matrix_view(*product.b, item);
    if (form == Form::kLinear) std::swap(b.row_stride, b.column_stride);
    multiply_parts(*context.threads, size, a, b, sums);
    T* pairs = reinterpret_cast<T*>(out.data()) + 2 * item * count;
    for (std::int64_t i = 0; i < count; ++i) {
      pairs[2 * i] = sums[i];
      pairs[2 * i + 1] = sums[count + i];
    }
  }
  if (product.addend != nullptr) PTERUN_TRY(add_complex<T>(context, product, reinterpret_cast<T*>(out.data())));
  out.finish(context);
  return {};
}

class MatmulKernel final : public Kernel {
 public:
  explicit MatmulKernel(Form form) : form_(form) {}

  Result<void> prepare(PrepareContext&, const Arguments& arguments);
  Result<void> execute(ExecuteContext& context, const Arguments& arguments) override;

 private:
  Result<void> pack(const Arguments& arguments, const Product& product);
  Result<void> run_packed(ExecuteContext& context, const Arguments& arguments, const Product& product);
  Result<void> run_dynamic(ExecuteContext& context, const Arguments& arguments, const Product& product);

  Form form_;
  XnnOperator packed_;        // fully connected, its weights are the constant second matrix
  bool bias_packed_ = false;  // the addend is inside packed_
  std::int64_t packed_rows_ = -1;
  XnnOperator dynamic_;  // batch matrix multiply
  GemmSize dynamic_size_{-1, -1, -1};
  std::int64_t dynamic_batch_ = -1;
  std::size_t workspace_bytes_ = 0;
};

Result<void> MatmulKernel::prepare(PrepareContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(Product product, read_product(arguments, form_));
  if (product.a->dtype() != DType::kFloat32 || form_ == Form::kBmm || !product.b->is_constant()) return {};
  PTERUN_TRY(measure(arguments, form_, product));
  if (product.b->numel() == 0) return {};
  return pack(arguments, product);
}

Result<void> MatmulKernel::pack(const Arguments& arguments, const Product& product) {
  PTERUN_TRY(xnnpack::initialize());
  const MatrixView b = matrix_view(*product.b, 0);
  const bool as_columns = form_ == Form::kLinear ? product.b->rank() == 1 || b.column_stride == 1
                                                 : b.row_stride == 1 && b.column_stride != 1;
  const float* bias = nullptr;
  if (product.addend != nullptr && product.addend->is_constant() && is_one<float>(product.alpha) &&
      is_one<float>(product.beta) && product.addend->numel() == product.size.columns &&
      (product.addend->rank() < 2 || product.addend->size(0) == 1)) {
    bias = product.addend->data<float>();
    bias_packed_ = true;
  }
  const auto depth = static_cast<std::size_t>(product.size.depth);
  const auto columns = static_cast<std::size_t>(product.size.columns);
  xnn_operator_t op = nullptr;
  const xnn_status status = xnn_create_fully_connected_nc_f32(
      depth, columns, depth, columns, product.b->data<float>(), bias, -std::numeric_limits<float>::infinity(),
      std::numeric_limits<float>::infinity(), as_columns ? 0 : XNN_FLAG_TRANSPOSE_WEIGHTS, nullptr, nullptr, &op);
  packed_.reset(op);
  return xnn_check(arguments, status, "create fully connected");
}

Result<void> MatmulKernel::run_packed(ExecuteContext& context, const Arguments& arguments, const Product& product) {
  pthreadpool_t pool = pool_for(*context.threads, product.multiplications());
  if (packed_rows_ != product.size.rows) {
    const auto rows = static_cast<std::size_t>(product.size.rows);
    PTERUN_TRY(
        xnn_check(arguments, xnn_reshape_fully_connected_nc_f32(packed_.get(), rows, pool), "reshape fully connected"));
    packed_rows_ = product.size.rows;
  }
  PTERUN_ASSIGN(const float* a, padded_input(context, *product.a));
  PTERUN_ASSIGN(ComputeOutput out, ComputeOutput::open(context, *product.out, Compute::kFloat));
  PTERUN_TRY(xnn_check(arguments, xnn_setup_fully_connected_nc_f32(packed_.get(), a, out.data<float>()),
                       "set up fully connected"));
  PTERUN_TRY(xnn_check(arguments, xnn_run_operator(packed_.get(), pool), "run fully connected"));
  if (!bias_packed_) {
    PTERUN_ASSIGN(const float* addend, optional_compute_input<float>(context, product.addend));
    scale_and_add<float>(*context.threads, product, addend, out.data<float>());
  }
  return out.store(context);
}

Result<void> MatmulKernel::run_dynamic(ExecuteContext& context, const Arguments& arguments, const Product& product) {
  const bool transposed = form_ == Form::kLinear;
  if (dynamic_ == nullptr) {
    PTERUN_TRY(xnnpack::initialize());
    xnn_operator_t op = nullptr;
    const xnn_status status = xnn_create_batch_matrix_multiply_nc_f32(transposed ? XNN_FLAG_TRANSPOSE_B : 0, &op);
    dynamic_.reset(op);
    PTERUN_TRY(xnn_check(arguments, status, "create batch matrix multiply"));
  }
  pthreadpool_t pool = pool_for(*context.threads, product.multiplications());
  const GemmSize& size = product.size;
  if (dynamic_batch_ != product.batch || !(dynamic_size_ == size)) {
    const auto batch = static_cast<std::size_t>(product.batch);
    std::size_t alignment = 0;
    dynamic_batch_ = -1;
    PTERUN_TRY(xnn_check(arguments,
                         xnn_reshape_batch_matrix_multiply_nc_f32(
                             dynamic_.get(), 1, &batch, &batch, static_cast<std::size_t>(size.rows),
                             static_cast<std::size_t>(size.depth), static_cast<std::size_t>(size.columns),
                             &workspace_bytes_, &alignment, pool),
                         "reshape batch matrix multiply"));
    dynamic_batch_ = product.batch;
    dynamic_size_ = size;
  }
  PTERUN_ASSIGN(std::byte * workspace, context.scratch->allocate(workspace_bytes_));
  PTERUN_ASSIGN(const float* a, padded_input(context, *product.a));
  PTERUN_ASSIGN(const float* b, compute_input<float>(context, *product.b));
  PTERUN_ASSIGN(ComputeOutput out, ComputeOutput::open(context, *product.out, Compute::kFloat));
  PTERUN_TRY(xnn_check(arguments,
                       xnn_setup_batch_matrix_multiply_nc_f32(dynamic_.get(), workspace, a, b, out.data<float>()),
                       "set up batch matrix multiply"));
  PTERUN_TRY(xnn_check(arguments, xnn_run_operator(dynamic_.get(), pool), "run batch matrix multiply"));
  PTERUN_ASSIGN(const float* addend, optional_compute_input<float>(context, product.addend));
  scale_and_add<float>(*context.threads, product, addend, out.data<float>());
  return out.store(context);
}

Result<void> MatmulKernel::execute(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(Product product, read_product(arguments, form_));
  PTERUN_TRY(measure(arguments, form_, product));
  PTERUN_TRY(resize_output(arguments, *product.out, product.out_shape));
  if (product.out->numel() == 0) return {};
  if (is_complex(product.a->dtype())) {
    return product.a->dtype() == DType::kComplex64 ? multiply_complex<float>(context, form_, product)
                                                   : multiply_complex<double>(context, form_, product);
  }
  // XNNPACK's dynamic product packs the whole second matrix first, which does not pay for few rows.
  constexpr std::int64_t kFewRows = 6;
  if (product.a->dtype() == DType::kFloat32 && product.size.depth > 0) {
    const bool plain = is_one<float>(product.alpha) && is_one<float>(product.beta);
    if (packed_ != nullptr && (plain || !bias_packed_)) return run_packed(context, arguments, product);
    if (product.size.rows > kFewRows) return run_dynamic(context, arguments, product);
  }
  return visit_compute(product.a->dtype(), [&]<typename T>() { return multiply_blocked<T>(context, form_, product); });
}

template <Form form>
Result<std::unique_ptr<Kernel>> prepare_matmul(PrepareContext& context, const Arguments& arguments) {
  auto kernel = std::make_unique<MatmulKernel>(form);
  PTERUN_TRY(kernel->prepare(context, arguments));
  return kernel;
}

constexpr OperatorRow kRows[] = {
    {"aten::mm.out", kMatmulDTypes, nullptr, prepare_matmul<Form::kMm>},
    {"aten::bmm.out", kMatmulDTypes, nullptr, prepare_matmul<Form::kBmm>},
    {"aten::addmm.out", kMatmulDTypes, nullptr, prepare_matmul<Form::kAddmm>},
    {"aten::linear.out", kMatmulDTypes, nullptr, prepare_matmul<Form::kLinear>},
};

}  // namespace

std::span<const OperatorRow> matmul_family() {
  return kRows;
}

}  // namespace pterun::operators
