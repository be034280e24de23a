// The slow loop over complex numbers.
#include "operators/complex_elementwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "operators/broadcast.h"
#include "operators/dtype_dispatch.h"
#include "operators/output.h"
#include "operators/promotion.h"

namespace pterun::operators {
namespace {

// A tensor read in the memory order of another, or one number again and again.
class Reader {
 public:
  Reader(const Tensor& tensor, const Shape& shape, const DimOrder& order)
      : span_(StridedSpan::of_operand(tensor, shape, order)),
        cursor_(span_, 0),
        dtype_(tensor.dtype()),
        data_(static_cast<const std::byte*>(tensor.raw_data())) {}
  explicit Reader(Complex number) : cursor_(span_, 0), number_(number) {}
  Reader(const Reader&) = delete;  // the cursor borrows the span
  Reader& operator=(const Reader&) = delete;

  Complex next() {
    if (data_ == nullptr) return number_;
    const Complex value =
        load_complex(dtype_, data_ + cursor_.offset() * static_cast<std::int64_t>(dtype_size(dtype_)));
    cursor_.advance(1);
    return value;
  }

 private:
  StridedSpan span_;
  StridedCursor cursor_;
  DType dtype_ = DType::kComplex128;
  const std::byte* data_ = nullptr;
  Complex number_;
};

template <typename Body>
void for_each_element(Tensor& out, const Body& body) {
  auto* write = out.mutable_data<std::byte>();
  const std::size_t size = dtype_size(out.dtype());
  for (std::int64_t i = 0; i < out.numel(); ++i, write += size)
    body(write);
}

// The operands of a call: tensors broadcast to the output's shape, or numbers.
class Operands {
 public:
  static constexpr std::size_t kMax = 3;

  // Checks, broadcasts and resizes the output; `result` none: the promoted dtype.
  static Result<void> read(const Arguments& arguments, std::span<const std::size_t> places, std::size_t out,
                           std::optional<DType> result, Operands& operands);
  Complex next(std::size_t operand) { return readers_[operand]->next(); }
  Tensor& out() { return *out_; }

 private:
  std::array<std::optional<Reader>, kMax> readers_;
  Tensor* out_ = nullptr;
};

Error do_not_broadcast(const Arguments& arguments, const Shape& a, const Shape& b) {
  return arguments.error(ErrorCode::kInvalidArgument,
                         "shapes " + a.to_string() + " and " + b.to_string() + " do not broadcast");
}

Result<void> Operands::read(const Arguments& arguments, std::span<const std::size_t> places, std::size_t out,
                            std::optional<DType> result, Operands& operands) {
  Promotion promotion;
  Shape shape;
  for (const std::size_t place : places) {
    if (!arguments.slot(place).is_tensor()) {
      PTERUN_ASSIGN(const Scalar number, arguments.scalar(place));
      promotion.add(number);
      continue;
    }
    PTERUN_ASSIGN(const Tensor* tensor, arguments.tensor(place));
    PTERUN_TRY(check_dtype(arguments, place, *tensor, kAnyDType));
    promotion.add(*tensor);
    const auto both = broadcast_shapes(shape, tensor->shape());
    if (!both) return fail(do_not_broadcast(arguments, shape, tensor->shape()));
    shape = *both;
  }
  PTERUN_ASSIGN(operands.out_, arguments.tensor(out));
  PTERUN_TRY(check_output_dtype(arguments, result.value_or(promotion.result()), *operands.out_));
  PTERUN_TRY(resize_output(arguments, *operands.out_, shape));
  for (std::size_t i = 0; i < places.size() && operands.out_->numel() > 0; ++i) {
    if (const Tensor* tensor = arguments.slot(places[i]).tensor()) {
      operands.readers_[i].emplace(*tensor, shape, operands.out_->dim_order());
    } else {
      operands.readers_[i].emplace(Complex((*arguments.scalar(places[i])).to_double()));
    }
  }
  return {};
}

}  // namespace

Complex load_complex(DType dtype, const std::byte* element) {
  if (!is_complex(dtype)) return load_one<double>(dtype, element);
  const DType part = complex_part(dtype);
  return {load_one<double>(part, element), load_one<double>(part, element + dtype_size(part))};
}

void store_complex(DType dtype, Complex value, std::byte* element) {
  if (dtype == DType::kBool) return store_one<double>(dtype, value != Complex(0) ? 1.0 : 0.0, element);
  if (!is_complex(dtype)) return store_one<double>(dtype, value.real(), element);
  const DType part = complex_part(dtype);
  store_one<double>(part, value.real(), element);
  store_one<double>(part, value.imag(), element + dtype_size(part));
}

Complex multiply(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Complex divide(Complex a, Complex b) {
  // NaN makes every comparison false, and with it the second form.
  if (std::abs(b.real()) >= std::abs(b.imag())) {
    if (b == Complex(0)) return {a.real() / std::abs(b.real()), a.imag() / std::abs(b.imag())};
    const double ratio = b.imag() / b.real();
    const double scale = 1.0 / (b.real() + b.imag() * ratio);
    return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
  }
  const double ratio = b.real() / b.imag();
  const double scale = 1.0 / (b.real() * ratio + b.imag());
  return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

bool has_complex(const Arguments& arguments, std::size_t count) {
  for (std::size_t i = 0; i < std::min(count, arguments.size()); ++i) {
    const Tensor* tensor = arguments.slot(i).tensor();
    if (tensor != nullptr && is_complex(tensor->dtype())) return true;
  }
  return false;
}

Result<void> complex_binary(const Arguments& arguments, std::size_t out, ComplexFunction function,
                            std::optional<double> alpha, std::size_t scaled) {
  Operands operands;
  PTERUN_TRY(Operands::read(arguments, std::array<std::size_t, 2>{0, 1}, out, std::nullopt, operands));
  for_each_element(operands.out(), [&](std::byte* element) {
    std::array<Complex, 2> x = {operands.next(0), operands.next(1)};
    if (alpha) x[scaled] = multiply(x[scaled], *alpha);
    store_complex(operands.out().dtype(), function(x[0], x[1]), element);
  });
  return {};
}

Result<void> complex_compare(const Arguments& arguments, std::size_t out, ComplexTest test) {
  Operands operands;
  PTERUN_TRY(Operands::read(arguments, std::array<std::size_t, 2>{0, 1}, out, DType::kBool, operands));
  for_each_element(operands.out(), [&](std::byte* element) {
    const Complex left = operands.next(0);
    store_one<std::int64_t>(operands.out().dtype(), test(left, operands.next(1)) ? 1 : 0, element);
  });
  return {};
}

Result<void> complex_unary(const Arguments& arguments, ComplexUnary function, DType result) {
  Operands operands;
  PTERUN_TRY(Operands::read(arguments, std::array<std::size_t, 1>{0}, 1, result, operands));
  for_each_element(operands.out(), [&](std::byte* element) {
    store_complex(operands.out().dtype(), function(operands.next(0)), element);
  });
  return {};
}

Result<void> complex_select(const Arguments& arguments, std::size_t condition, std::size_t a, std::size_t b,
                            DType result, std::size_t out) {
  Operands operands;
  PTERUN_TRY(Operands::read(arguments, std::array<std::size_t, 3>{condition, a, b}, out, result, operands));
  for_each_element(operands.out(), [&](std::byte* element) {
    const bool first = operands.next(0) != Complex(0);
    const Complex left = operands.next(1);
    const Complex right = operands.next(2);
    store_complex(operands.out().dtype(), first ? left : right, element);
  });
  return {};
}

void convert_complex(const Tensor& from, Tensor& to) {
  if (to.numel() == 0) return;
  Reader reader(from, to.shape(), to.dim_order());
  for_each_element(to, [&](std::byte* element) { store_complex(to.dtype(), reader.next(), element); });
}

void conjugate(Tensor& tensor) {
  if (!is_complex(tensor.dtype())) return;
  for_each_element(tensor, [&](std::byte* element) {
    store_complex(tensor.dtype(), std::conj(load_complex(tensor.dtype(), element)), element);
  });
}

}  // namespace pterun::operators
