// aten::_fft_r2c and _fft_c2r over any dimensions. Everything is computed in double.
#include <algorithm>
#include <cmath>
#include <complex>

#include "operators/checks.h"
#include "operators/dims.h"
#include "operators/dtype_dispatch.h"
#include "operators/families/families.h"
#include "operators/fft.h"
#include "operators/output.h"

namespace pterun::operators {
namespace {

using Complex = std::complex<double>;

// A row-major array of complex numbers in scratch memory.
struct Spectrum {
  Shape shape;
  Complex* data = nullptr;

  static Result<Spectrum> allocate(ExecuteContext& context, const Shape& shape) {
    Spectrum spectrum{shape};
    PTERUN_ASSIGN(std::byte * memory,
                  context.scratch->allocate(static_cast<std::size_t>(shape.numel()) * sizeof(Complex)));
    spectrum.data = reinterpret_cast<Complex*>(memory);
    return spectrum;
  }
};

// The dimensions, not empty, each once. The last one is the halved one.
Result<std::vector<std::size_t>> read_dims(const Arguments& arguments, std::size_t rank) {
  PTERUN_ASSIGN(const Shape list, arguments.int_list(1));
  std::vector<std::size_t> dims;
  for (const std::int64_t dim : list) {
    PTERUN_ASSIGN(const std::size_t wrapped, wrap_dim(arguments, dim, rank));
    if (std::find(dims.begin(), dims.end(), wrapped) != dims.end()) {
      return fail(arguments.error(ErrorCode::kInvalidArgument, "dimension " + std::to_string(dim) + " is named twice"));
    }
    dims.push_back(wrapped);
  }
  if (dims.empty() || rank == 0) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "no dimensions are given"));
  }
  return dims;
}

// 1, 1 / sqrt(n) or 1 / n, with n the number of elements that a sum runs over.
Result<double> read_scale(const Arguments& arguments, double elements) {
  PTERUN_ASSIGN(const std::int64_t mode, arguments.integer(2));
  if (mode == 0) return 1.0;
  if (mode == 1) return 1.0 / std::sqrt(elements);
  if (mode == 2) return 1.0 / elements;
  return fail(
      arguments.error(ErrorCode::kInvalidArgument, "normalization " + std::to_string(mode) + " is not 0, 1 or 2"));
}

// Transforms every line along `dim` in place.
Result<void> transform(ExecuteContext& context, Spectrum& spectrum, std::size_t dim, bool inverse) {
  const std::int64_t length = spectrum.shape[dim];
  std::int64_t inner = 1;
  for (std::size_t i = dim + 1; i < spectrum.shape.rank(); ++i)
    inner *= spectrum.shape[i];
  PTERUN_ASSIGN(Spectrum line, Spectrum::allocate(context, {2, length}));
  FourierTransform fourier(static_cast<std::size_t>(length), inverse);
  const std::int64_t lines = length == 0 ? 0 : spectrum.shape.numel() / length;
  for (std::int64_t i = 0; i < lines; ++i) {
    Complex* start = spectrum.data + i / inner * length * inner + i % inner;
    for (std::int64_t k = 0; k < length; ++k)
      line.data[k] = start[k * inner];
    fourier.run(line.data, line.data + length);
    for (std::int64_t k = 0; k < length; ++k)
      start[k * inner] = line.data[length + k];
  }
  return {};
}

// Calls copy(source index, target index) for every element of `target`'s shape, where the other shape differs from it
// along `dim` only; the source has `source_size` elements there.
template <typename Copy>
void for_each_resized(const Shape& target, std::size_t dim, std::int64_t source_size, const Copy& copy) {
  std::int64_t inner = 1;
  for (std::size_t i = dim + 1; i < target.rank(); ++i)
    inner *= target[i];
  for (std::int64_t i = 0; i < target.numel(); ++i) {
    const std::int64_t outer = i / (inner * target[dim]);
    const std::int64_t k = i / inner % target[dim];
    copy(outer * source_size * inner + i % inner, inner, k, i);
  }
}

Result<void> fft_r2c(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const bool onesided, arguments.boolean(3));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(4));
  PTERUN_TRY(check_dtype(arguments, *input, {DType::kFloat32, DType::kFloat64}, "input"));
  if (!is_complex(out->dtype()) || complex_part(out->dtype()) != input->dtype()) {
    return fail(
        arguments.error(ErrorCode::kInvalidArgument, "out is " + out->describe() + ", the input " + input->describe()));
  }
  PTERUN_ASSIGN(const std::vector<std::size_t> dims, read_dims(arguments, input->rank()));
  double elements = 1.0;
  for (const std::size_t dim : dims)
    elements *= static_cast<double>(input->size(dim));
  PTERUN_ASSIGN(const double scale, read_scale(arguments, elements));
  const std::size_t last = dims.back();
  Shape shape = input->shape();
  if (onesided) shape[last] = shape[last] / 2 + 1;
  PTERUN_TRY(resize_output(arguments, *out, shape));
  if (input->numel() == 0) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "cannot transform " + input->describe()));
  }
  PTERUN_ASSIGN(Spectrum spectrum, Spectrum::allocate(context, input->shape()));
  PTERUN_ASSIGN(const std::byte* elements_in, row_major_elements(context, *input));
  const auto part_size = static_cast<std::int64_t>(dtype_size(input->dtype()));
  for (std::int64_t i = 0; i < input->numel(); ++i) {
    spectrum.data[i] = load_one<double>(input->dtype(), elements_in + i * part_size);
  }
  for (const std::size_t dim : dims)
    PTERUN_TRY(transform(context, spectrum, dim, false));
  PTERUN_ASSIGN(RowMajorOutput results, RowMajorOutput::open(context, *out));
  for_each_resized(shape, last, input->size(last),
                   [&](std::int64_t start, std::int64_t inner, std::int64_t k, std::int64_t to) {
                     const Complex value = spectrum.data[start + k * inner] * scale;
                     store_one<double>(input->dtype(), value.real(), results.data() + 2 * to * part_size);
                     store_one<double>(input->dtype(), value.imag(), results.data() + (2 * to + 1) * part_size);
                   });
  results.finish(context);
  return {};
}

Result<void> fft_c2r(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t length, arguments.integer(3));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(4));
  PTERUN_TRY(check_dtype(arguments, *out, {DType::kFloat32, DType::kFloat64}, "out"));
  if (!is_complex(input->dtype()) || complex_part(input->dtype()) != out->dtype()) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "input is " + input->describe() + ", the output " + out->describe()));
  }
  PTERUN_ASSIGN(const std::vector<std::size_t> dims, read_dims(arguments, input->rank()));
  const std::size_t last = dims.back();
  Shape shape = input->shape();
  shape[last] = length;
  if (length < 1 || input->numel() == 0 || input->size(last) < length / 2 + 1) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "cannot transform " + input->describe() + " to " + shape.to_string()));
  }
  double elements = 1.0;
  for (const std::size_t dim : dims)
    elements *= static_cast<double>(shape[dim]);
  PTERUN_ASSIGN(const double scale, read_scale(arguments, elements));
  PTERUN_TRY(resize_output(arguments, *out, shape));
  PTERUN_ASSIGN(Spectrum half, Spectrum::allocate(context, input->shape()));
  PTERUN_ASSIGN(const std::byte* elements_in, row_major_elements(context, *input));
  load_as<double>(out->dtype(), elements_in, 1, reinterpret_cast<double*>(half.data),
                  static_cast<std::size_t>(2 * input->numel()));
  for (const std::size_t dim : dims) {
    if (dim != last) PTERUN_TRY(transform(context, half, dim, true));
  }
  // The missing half are the conjugates; the imaginary parts of the first and middle numbers do not count.
  PTERUN_ASSIGN(Spectrum whole, Spectrum::allocate(context, shape));
  for_each_resized(
      shape, last, input->size(last), [&](std::int64_t start, std::int64_t inner, std::int64_t k, std::int64_t to) {
        const Complex value = half.data[start + std::min(k, length - k) * inner];
        whole.data[to] = k == 0 || 2 * k == length ? Complex(value.real()) : 2 * k < length ? value : std::conj(value);
      });
  PTERUN_TRY(transform(context, whole, last, true));
  PTERUN_ASSIGN(RowMajorOutput results, RowMajorOutput::open(context, *out));
  const auto part_size = static_cast<std::int64_t>(dtype_size(out->dtype()));
  for (std::int64_t i = 0; i < out->numel(); ++i) {
    store_one<double>(out->dtype(), whole.data[i].real() * scale, results.data() + i * part_size);
  }
  results.finish(context);
  return {};
}

constexpr OperatorRow kRows[] = {
    {"aten::_fft_r2c.out", {DType::kFloat32, DType::kFloat64}, fft_r2c},
    {"aten::_fft_c2r.out", {DType::kComplex64, DType::kComplex128}, fft_c2r},
};

}  // namespace

std::span<const OperatorRow> fourier_family() {
  return kRows;
}

}  // namespace pterun::operators
