// Numbers for tests: reproducible random values and comparison with a tolerance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pterun::test {

// Multiples of 1/64 in [low, high], the same for the same seed; float16 and bfloat16 hold those up to 2 exactly enough
// for a reference computed from what make_tensor stored.
std::vector<double> random_values(std::size_t count, std::uint32_t seed, double low = -1.0, double high = 1.0);
// Whole numbers in [low, high].
std::vector<double> random_integers(std::size_t count, std::uint32_t seed, int low, int high);

// The largest |got - want| - (atol + rtol * |want|); at most 0 when all are close. NaN equals NaN, an infinity equals
// itself; other sizes, and NaN or infinity on one side only, give infinity.
double largest_excess(const std::vector<double>& got, const std::vector<double>& want, double atol, double rtol);

}  // namespace pterun::test
