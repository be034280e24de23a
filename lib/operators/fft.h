// Discrete Fourier transforms of any length, in double.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace pterun::operators {

// out[k] = sum of in[j] * e^(-2 pi i j k / n), or e^(+…) for the inverse; neither is scaled. Lengths are split into
// their prime factors: n (p1 + p2 + …) steps.
class FourierTransform {
 public:
  FourierTransform(std::size_t length, bool inverse);
  // `in` and `out` hold `length` numbers and do not overlap.
  void run(const std::complex<double>* in, std::complex<double>* out);

 private:
  void recurse(std::size_t length, std::size_t stride, const std::complex<double>* in, std::complex<double>* out);
  void combine(std::size_t length, std::size_t factor, std::complex<double>* out);

  std::size_t length_;
  std::vector<std::complex<double>> roots_;      // e^(∓2 pi i j / length)
  std::vector<std::complex<double>> butterfly_;  // as many as the largest prime factor
};

}  // namespace pterun::operators
