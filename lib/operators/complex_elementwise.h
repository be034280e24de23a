// Complex numbers: few models have them outside delegates, so there is one slow loop in double for all of it.
#pragma once

#include <complex>
#include <cstddef>
#include <optional>

#include "operators/operator.h"

namespace pterun::operators {

// Whether one of the first `count` arguments is a complex tensor.
bool has_complex(const Arguments& arguments, std::size_t count);

using Complex = std::complex<double>;
using ComplexFunction = Complex (*)(Complex a, Complex b);
using ComplexTest = bool (*)(Complex a, Complex b);
using ComplexUnary = Complex (*)(Complex x);

// One element of any dtype; a real one has no imaginary part, or takes the real part. A bool is whether it is not zero.
Complex load_complex(DType dtype, const std::byte* element);
void store_complex(DType dtype, Complex value, std::byte* element);

// By the plain formula, as eager: an infinity times zero is NaN, where C++'s own operator recovers infinities.
Complex multiply(Complex a, Complex b);
// By Smith's formula (R. L. Smith, Algorithm 116, 1962), as eager: little overflow in between, and infinities by the
// infinite parts of the numbers rather than by C++'s rules.
Complex divide(Complex a, Complex b);

// out = function(argument 0, argument 1) with promotion and broadcasting; each argument is a tensor or a number, one at
// least a tensor. With alpha, argument `scaled` is multiplied by it first. Errors: as Elementwise.
Result<void> complex_binary(const Arguments& arguments, std::size_t out, ComplexFunction function,
                            std::optional<double> alpha = std::nullopt, std::size_t scaled = 1);
// The same with a bool output.
Result<void> complex_compare(const Arguments& arguments, std::size_t out, ComplexTest test);
// out (argument 1) = function(argument 0), which is complex; of a `result` that is not complex the real part is stored.
Result<void> complex_unary(const Arguments& arguments, ComplexUnary function, DType result);
// out = condition ? a : b, elements of the promoted dtype; the condition is a tensor of bool or uint8.
Result<void> complex_select(const Arguments& arguments, std::size_t condition, std::size_t a, std::size_t b,
                            DType result, std::size_t out);

// Elements of `from`, broadcast to the shape of `to`, in its dtype: a real number has no imaginary part, and a real
// dtype takes the real part.
void convert_complex(const Tensor& from, Tensor& to);

// Negates the imaginary parts in place.
void conjugate(Tensor& tensor);

}  // namespace pterun::operators
