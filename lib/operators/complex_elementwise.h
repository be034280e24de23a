// Complex numbers: few models have them outside delegates, so there is one slow loop in double for all of it.
#pragma once

#include <complex>
#include <cstddef>

#include "operators/operator.h"

namespace pterun::operators {

// Whether one of the first `count` arguments is a complex tensor.
bool has_complex(const Arguments& arguments, std::size_t count);

using ComplexFunction = std::complex<double> (*)(std::complex<double> a, std::complex<double> b);

// out = function(argument 0, alpha * argument 1) with promotion and broadcasting; argument 1 is a tensor or a number.
// Errors: as Elementwise.
Result<void> complex_binary(const Arguments& arguments, std::size_t out, double alpha, ComplexFunction function);

// Elements of `from`, broadcast to the shape of `to`, in its dtype: a real number has no imaginary part, and a real
// dtype takes the real part.
void convert_complex(const Tensor& from, Tensor& to);

// Negates the imaginary parts in place.
void conjugate(Tensor& tensor);

}  // namespace pterun::operators
