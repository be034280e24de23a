// Decimation in time over the prime factors of the length.
#include "operators/fft.h"

#include <algorithm>
#include <numbers>

namespace pterun::operators {
namespace {

std::size_t smallest_factor(std::size_t n) {
  for (std::size_t factor = 2; factor * factor <= n; ++factor) {
    if (n % factor == 0) return factor;
  }
  return n;
}

}  // namespace

FourierTransform::FourierTransform(std::size_t length, bool inverse) : length_(length), roots_(length) {
  for (std::size_t j = 0; j < length; ++j) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(length);
    roots_[j] = std::polar(1.0, inverse ? angle : -angle);
  }
  std::size_t largest = 1;
  for (std::size_t rest = length; rest > 1;) {
    const std::size_t factor = smallest_factor(rest);
    largest = std::max(largest, factor);
    rest /= factor;
  }
  butterfly_.resize(largest);
}

void FourierTransform::run(const std::complex<double>* in, std::complex<double>* out) {
  if (length_ > 0) recurse(length_, 1, in, out);
}

void FourierTransform::recurse(std::size_t length, std::size_t stride, const std::complex<double>* in,
                               std::complex<double>* out) {
  if (length == 1) {
    out[0] = in[0];
    return;
  }
  const std::size_t factor = smallest_factor(length);
  const std::size_t part = length / factor;
  for (std::size_t r = 0; r < factor; ++r)
    recurse(part, stride * factor, in + r * stride, out + r * part);
  combine(length, factor, out);
}

// The parts are the transforms of every factor-th number; each group of `factor` results needs one number of each.
void FourierTransform::combine(std::size_t length, std::size_t factor, std::complex<double>* out) {
  const std::size_t part = length / factor;
  const std::size_t step = length_ / length;  // roots of `length` are every step-th of roots_
  for (std::size_t k = 0; k < part; ++k) {
    for (std::size_t r = 0; r < factor; ++r)
      butterfly_[r] = out[r * part + k] * roots_[r * k * step];
    if (factor == 2) {
      out[k] = butterfly_[0] + butterfly_[1];
      out[part + k] = butterfly_[0] - butterfly_[1];
      continue;
    }
    for (std::size_t q = 0; q < factor; ++q) {
      std::complex<double> sum = butterfly_[0];
      for (std::size_t r = 1; r < factor; ++r)
        sum += butterfly_[r] * roots_[q * r % factor * part * step];
      out[q * part + k] = sum;
    }
  }
}

}  // namespace pterun::operators
