// Generated inputs: zeros, ones, arange, const(V), uniform(LO,HI), normal(MU,SD), int(LO,HI). The random ones depend
// on seed, input index and element index only, and give the same bits on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tensor/tensor.h"

namespace pterun {

struct Generator {
  enum class Kind : std::uint8_t { kZeros, kOnes, kArange, kConst, kUniform, kNormal, kInt };
  Kind kind = Kind::kZeros;
  double a = 0;           // const: V; uniform: LO; normal: MU
  double b = 0;           // uniform: HI; normal: SD
  std::int64_t low = 0;   // int: LO; const: V when it is an integer
  std::int64_t high = 0;  // int: HI
  bool integral = false;  // const: V was written as an integer or as true or false
};

// Whether the text is meant as a generator: one of the names, alone or before a "(".
bool is_generator(std::string_view text);

// Errors: kUsage, naming the text and what was expected: wrong name, number of arguments, a number that is none or not
// finite (const takes inf and nan), LO > HI, SD < 0.
Result<Generator> parse_generator(std::string_view text);

// Fills `tensor`, whatever its dim order; element i in row-major order gets value i of the sequence.
//   zeros, ones, const   V must be a value of the dtype, for floats after rounding
//   arange               0, 1, 2, …; integers start again at 0 beyond their largest value, bool is odd elements
//   uniform              LO + (HI - LO) * u, u in [0, 1) with 53 bits; integers the floor of it, bool whether it is >=
//   0.5 normal               MU + SD * z; integers and bool as uniform int                  LO to HI, both included
// Errors: kInput: a value that the dtype cannot hold, a dtype without arithmetic (quantised, float8, bits) except for
// zeros.
Result<void> generate(const Generator& generator, std::uint64_t seed, std::uint32_t input_index, Tensor& tensor);

// What stands for an input that is not given: uniform(0,1) for floats, int(0,1) for the rest.
Generator default_generator(DType dtype);

// "uniform(0,1)": the text that parses to it.
std::string to_string(const Generator& generator);

}  // namespace pterun
