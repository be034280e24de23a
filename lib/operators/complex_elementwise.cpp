// The slow loop over complex numbers.
#include "operators/complex_elementwise.h"

#include <algorithm>

#include "operators/broadcast.h"
#include "operators/dtype_dispatch.h"
#include "operators/output.h"
#include "operators/promotion.h"

namespace pterun::operators {
namespace {

using Complex = std::complex<double>;

Complex load_complex(DType dtype, const std::byte* element) {
  if (!is_complex(dtype)) return load_one<double>(dtype, element);
  const DType part = complex_part(dtype);
  return {load_one<double>(part, element), load_one<double>(part, element + dtype_size(part))};
}

void store_complex(DType dtype, Complex value, std::byte* element) {
  if (!is_complex(dtype)) return store_one<double>(dtype, value.real(), element);
  const DType part = complex_part(dtype);
  store_one<double>(part, value.real(), element);
  store_one<double>(part, value.imag(), element + dtype_size(part));
}

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

void combine(Reader& a, Reader& b, double alpha, ComplexFunction function, Tensor& out) {
  for_each_element(out, [&](std::byte* element) {
    const Complex left = a.next();
    const Complex right = b.next();
    store_complex(out.dtype(), function(left, alpha == 1.0 ? right : alpha * right), element);
  });
}

}  // namespace

bool has_complex(const Arguments& arguments, std::size_t count) {
  for (std::size_t i = 0; i < std::min(count, arguments.size()); ++i) {
    const Tensor* tensor = arguments.slot(i).tensor();
    if (tensor != nullptr && is_complex(tensor->dtype())) return true;
  }
  return false;
}

Result<void> complex_binary(const Arguments& arguments, std::size_t out, double alpha, ComplexFunction function) {
  PTERUN_ASSIGN(const Tensor* a, arguments.tensor(0));
  PTERUN_TRY(check_dtype(arguments, 0, *a, kAnyDType));
  PTERUN_ASSIGN(Tensor * result, arguments.tensor(out));
  Promotion promotion;
  promotion.add(*a);
  Shape shape = a->shape();
  const Tensor* b = arguments.slot(1).tensor();
  if (b != nullptr) {
    PTERUN_TRY(arguments.tensor(1));
    PTERUN_TRY(check_dtype(arguments, 1, *b, kAnyDType));
    promotion.add(*b);
    const auto both = broadcast_shapes(a->shape(), b->shape());
    if (!both) {
      return fail(arguments.error(ErrorCode::kInvalidArgument, "shapes " + a->shape().to_string() + " and " +
                                                                   b->shape().to_string() + " do not broadcast"));
    }
    shape = *both;
  }
  PTERUN_TRY(check_output_dtype(arguments, promotion.result(), *result));
  PTERUN_TRY(resize_output(arguments, *result, shape));
  if (result->numel() == 0) return {};
  Reader left(*a, shape, result->dim_order());
  if (b != nullptr) {
    Reader right(*b, shape, result->dim_order());
    combine(left, right, alpha, function, *result);
    return {};
  }
  PTERUN_ASSIGN(const Scalar number, arguments.scalar(1));
  Reader right{Complex(number.to_double())};
  combine(left, right, alpha, function, *result);
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
