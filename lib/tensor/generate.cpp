// Elements are made as one number each (exact integer or double) and then stored in the dtype; only +, -, *, / and
// sqrt are used on floats, which IEEE 754 defines to the bit, so that no mathematical library decides a value.
#include "tensor/generate.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/utf8.h"
#include "tensor/philox.h"

namespace pterun {
namespace {

struct Name {
  std::string_view text;
  Generator::Kind kind;
  std::size_t arguments;
};
constexpr std::array kNames = {
    Name{"zeros", Generator::Kind::kZeros, 0},     Name{"ones", Generator::Kind::kOnes, 0},
    Name{"arange", Generator::Kind::kArange, 0},   Name{"const", Generator::Kind::kConst, 1},
    Name{"uniform", Generator::Kind::kUniform, 2}, Name{"normal", Generator::Kind::kNormal, 2},
    Name{"int", Generator::Kind::kInt, 2},
};
constexpr std::string_view kForms = "zeros, ones, arange, const(V), uniform(LO,HI), normal(MU,SD), int(LO,HI)";

const Name* find_name(std::string_view text) {
  const std::string_view word = text.substr(0, text.find('('));
  for (const Name& name : kNames) {
    if (name.text == word) return &name;
  }
  return nullptr;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string_view without_plus(std::string_view text) {
  return text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
}

template <typename T>
bool parse_number(std::string_view text, T& value) {
  text = without_plus(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

Error bad_generator(std::string_view text, const std::string& why) {
  return make_error(ErrorCode::kUsage, in_quotes(text) + " is no generator: " + why)
      .with_hint("one of " + std::string(kForms));
}

// What a value becomes: an exact integer for integer dtypes, a double for floats.
struct Element {
  double real = 0;
  std::int64_t integer = 0;
  bool exact = false;  // `integer` holds it
};

// Natural logarithm of a positive normal number, within a few units in the last place.
double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // in [0.5, 1); exact
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);  // log m = 2 atanh s, |s| < 0.172
  const double s2 = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2)
    sum = sum * s2 + 1.0 / k;
  return exponent * 0.69314718055994531 + 2 * s * sum;
}

// The random words of one element; `draw` counts those that it needed.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint32_t input, std::uint64_t element)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        counter_{static_cast<std::uint32_t>(element), static_cast<std::uint32_t>(element >> 32), input, 0} {}

  std::uint64_t word() {
    if (used_ == 2) {
      words_ = philox(counter_, key_);
      ++counter_[3];
      used_ = 0;
    }
    const std::uint64_t result = (static_cast<std::uint64_t>(words_[2 * used_ + 1]) << 32) | words_[2 * used_];
    ++used_;
    return result;
  }
  // In [0, 1).
  double unit() { return static_cast<double>(word() >> 11) * 0x1p-53; }
  // Marsaglia's polar method.
  double normal() {
    for (;;) {
      const double u = 2 * unit() - 1;
      const double v = 2 * unit() - 1;
      const double s = u * u + v * v;
      if (s < 1 && s > 0) return u * std::sqrt(-2 * portable_log(s) / s);
    }
  }

 private:
  PhiloxKey key_;
  PhiloxCounter counter_;
  PhiloxCounter words_{};
  std::size_t used_ = 2;
};

Element make_element(const Generator& generator, std::uint64_t seed, std::uint32_t input, std::uint64_t index) {
  switch (generator.kind) {
    case Generator::Kind::kZeros: return {0, 0, true};
    case Generator::Kind::kOnes: return {1, 1, true};
    case Generator::Kind::kArange: return {static_cast<double>(index), static_cast<std::int64_t>(index), true};
    case Generator::Kind::kConst: return {generator.a, generator.low, generator.integral};
    case Generator::Kind::kUniform: {
      const double u = Draws(seed, input, index).unit();
      return {generator.a + (generator.b - generator.a) * u, 0, false};
    }
    case Generator::Kind::kNormal: return {generator.a + generator.b * Draws(seed, input, index).normal(), 0, false};
    case Generator::Kind::kInt: {
      // The upper half of word * range is even enough: the bias is below 2^-40 for ranges below 2^24.
      const std::uint64_t range =
          static_cast<std::uint64_t>(generator.high) - static_cast<std::uint64_t>(generator.low);
      const std::uint64_t word = Draws(seed, input, index).word();
      const std::uint64_t offset =
          range == UINT64_MAX ? word
                              : static_cast<std::uint64_t>((static_cast<unsigned __int128>(word) * (range + 1)) >> 64);
      const auto value = static_cast<std::int64_t>(static_cast<std::uint64_t>(generator.low) + offset);
      return {static_cast<double>(value), value, true};
    }
  }
  return {};
}

bool is_random_real(const Generator& generator) {
  return generator.kind == Generator::Kind::kUniform || generator.kind == Generator::Kind::kNormal;
}

// Stores `element`; false when T cannot hold it.
template <typename T>
bool store(const Generator& generator, const Element& element, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    if (generator.kind == Generator::Kind::kArange)
      out = (element.integer & 1) != 0;
    else if (is_random_real(generator))
      out = element.real >= 0.5;
    else if (element.exact && (element.integer == 0 || element.integer == 1))
      out = element.integer == 1;
    else
      return false;
    return true;
  } else if constexpr (std::is_integral_v<T>) {
    if (generator.kind == Generator::Kind::kArange) {
      const auto period = static_cast<std::uint64_t>(std::numeric_limits<T>::max()) + 1;  // 0 stands for 2^64
      const auto index = static_cast<std::uint64_t>(element.integer);
      out = static_cast<T>(period == 0 ? index : index % period);
      return true;
    }
    if (element.exact) {
      out = static_cast<T>(element.integer);
      return std::in_range<T>(element.integer);
    }
    if (!is_random_real(generator)) return false;
    const double floor = std::floor(element.real);
    constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double kHigh = 2.0 * (static_cast<double>(std::numeric_limits<T>::max() / 2) + 1);
    if (!(floor >= kLow && floor < kHigh)) return false;
    out = static_cast<T>(floor);
    return true;
  } else {
    out = static_cast<T>(element.real);
    if constexpr (!std::is_same_v<T, double>) {
      const bool finite = std::isfinite(static_cast<float>(out));
      return finite || !std::isfinite(element.real) || generator.kind == Generator::Kind::kArange;
    }
    return true;
  }
}

// Row-major index -> place in memory, for any dim order.
class Walk {
 public:
  explicit Walk(const Tensor& tensor) : shape_(tensor.shape()), strides_(tensor.strides()) {
    index_ = Shape::filled(shape_.rank(), 0);
  }
  std::int64_t offset() const { return offset_; }
  void step() {
    for (std::size_t dim = shape_.rank(); dim-- > 0;) {
      offset_ += strides_[dim];
      if (++index_[dim] < shape_[dim]) return;
      offset_ -= strides_[dim] * shape_[dim];
      index_[dim] = 0;
    }
  }

 private:
  Shape shape_;
  Strides strides_;
  Shape index_;
  std::int64_t offset_ = 0;
};

template <typename T>
Result<void> fill(const Generator& generator, std::uint64_t seed, std::uint32_t input, Tensor& tensor) {
  Walk walk(tensor);
  T* data = tensor.mutable_data<T>();
  const auto count = static_cast<std::uint64_t>(tensor.numel());
  for (std::uint64_t i = 0; i < count; ++i, walk.step()) {
    if (store(generator, make_element(generator, seed, input, i), data[walk.offset()])) continue;
    return fail(make_error(ErrorCode::kInput, to_string(generator) + " makes a value that " +
                                                  std::string(dtype_name(tensor.dtype())) + " cannot hold")
                    .at("input", std::to_string(input)));
  }
  return {};
}

}  // namespace

bool is_generator(std::string_view text) {
  return find_name(text) != nullptr;
}

Result<Generator> parse_generator(std::string_view text) {
  const Name* name = find_name(text);
  if (name == nullptr) return fail(bad_generator(text, "expected a known name"));
  Generator generator;
  generator.kind = name->kind;
  std::array<std::string_view, 2> arguments;
  std::string_view rest = text.substr(name->text.size());
  if (name->arguments == 0) {
    if (!rest.empty()) return fail(bad_generator(text, "expected nothing behind '" + std::string(name->text) + "'"));
    return generator;
  }
  if (rest.size() < 2 || rest.back() != ')') return fail(bad_generator(text, "expected (…) behind the name"));
  rest = rest.substr(1, rest.size() - 2);
  const std::size_t comma = rest.find(',');
  if ((comma == std::string_view::npos) != (name->arguments == 1) ||
      rest.find(',', comma + 1) != std::string_view::npos) {
    return fail(bad_generator(text, "expected " + std::to_string(name->arguments) + " arguments"));
  }
  arguments[0] = trimmed(rest.substr(0, comma));
  if (name->arguments == 2) arguments[1] = trimmed(rest.substr(comma + 1));

  if (generator.kind == Generator::Kind::kInt) {
    if (!parse_number(arguments[0], generator.low) || !parse_number(arguments[1], generator.high)) {
      return fail(bad_generator(text, "expected two integers of 64 bits"));
    }
    if (generator.low > generator.high) return fail(bad_generator(text, "LO is greater than HI"));
    return generator;
  }
  if (generator.kind == Generator::Kind::kConst) {
    const std::string_view value = arguments[0];
    if (value == "true" || value == "false") {
      generator.low = value == "true";
      generator.integral = true;
    } else {
      generator.integral = parse_number(value, generator.low);
    }
    if (generator.integral) {
      generator.a = static_cast<double>(generator.low);
    } else if (!parse_number(value, generator.a)) {
      return fail(bad_generator(text, "expected a number, true or false, found " + in_quotes(value)));
    } else if (std::abs(generator.a) <= 0x1p53 && generator.a == std::floor(generator.a)) {
      generator.low = static_cast<std::int64_t>(generator.a);  // 1e3 and 2.0 are integers too
      generator.integral = true;
    }
    return generator;
  }
  if (!parse_number(arguments[0], generator.a) || !parse_number(arguments[1], generator.b) ||
      !std::isfinite(generator.a) || !std::isfinite(generator.b)) {
    return fail(bad_generator(text, "expected two finite numbers"));
  }
  if (generator.kind == Generator::Kind::kUniform &&
      (generator.a > generator.b || !std::isfinite(generator.b - generator.a))) {
    return fail(bad_generator(text, "expected LO <= HI, and HI - LO finite"));
  }
  if (generator.kind == Generator::Kind::kNormal && generator.b < 0) return fail(bad_generator(text, "SD is negative"));
  return generator;
}

Result<void> generate(const Generator& generator, std::uint64_t seed, std::uint32_t input_index, Tensor& tensor) {
  if (is_complex(tensor.dtype())) {
    Tensor parts = view_as_real(tensor);
    return generate(generator, seed, input_index, parts);
  }
  switch (tensor.dtype()) {
    case DType::kUInt8: return fill<std::uint8_t>(generator, seed, input_index, tensor);
    case DType::kInt8: return fill<std::int8_t>(generator, seed, input_index, tensor);
    case DType::kInt16: return fill<std::int16_t>(generator, seed, input_index, tensor);
    case DType::kInt32: return fill<std::int32_t>(generator, seed, input_index, tensor);
    case DType::kInt64: return fill<std::int64_t>(generator, seed, input_index, tensor);
    case DType::kUInt16: return fill<std::uint16_t>(generator, seed, input_index, tensor);
    case DType::kUInt32: return fill<std::uint32_t>(generator, seed, input_index, tensor);
    case DType::kUInt64: return fill<std::uint64_t>(generator, seed, input_index, tensor);
    case DType::kFloat16: return fill<Half>(generator, seed, input_index, tensor);
    case DType::kBFloat16: return fill<BFloat16>(generator, seed, input_index, tensor);
    case DType::kFloat32: return fill<float>(generator, seed, input_index, tensor);
    case DType::kFloat64: return fill<double>(generator, seed, input_index, tensor);
    case DType::kBool: return fill<bool>(generator, seed, input_index, tensor);
    case DType::kComplex64:
    case DType::kComplex128:
    case DType::kQInt8:
    case DType::kQUInt8:
    case DType::kQInt32:
    case DType::kQUInt4x2:
    case DType::kQUInt2x4:
    case DType::kBits16:
    case DType::kFloat8E5M2:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E4M3FNUZ: break;
  }
  if (generator.kind == Generator::Kind::kZeros) {
    auto* data = static_cast<std::byte*>(tensor.mutable_raw_data());
    std::fill_n(data, tensor.nbytes(), std::byte{0});
    return {};
  }
  return fail(make_error(ErrorCode::kInput, to_string(generator) + " cannot make values of " +
                                                std::string(dtype_name(tensor.dtype())) + "; only zeros can")
                  .at("input", std::to_string(input_index)));
}

Generator default_generator(DType dtype) {
  Generator generator;
  generator.kind = is_floating(dtype) ? Generator::Kind::kUniform : Generator::Kind::kInt;
  generator.b = 1;
  generator.high = 1;
  return generator;
}

std::string to_string(const Generator& generator) {
  const auto real = [](double value) {
    std::array<char, 32> text;
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    return std::string(text.data(), end);
  };
  std::string text;
  for (const Name& name : kNames) {
    if (name.kind == generator.kind) text = name.text;
  }
  switch (generator.kind) {
    case Generator::Kind::kZeros:
    case Generator::Kind::kOnes:
    case Generator::Kind::kArange: return text;
    case Generator::Kind::kConst:
      return text + "(" + (generator.integral ? std::to_string(generator.low) : real(generator.a)) + ")";
    case Generator::Kind::kUniform:
    case Generator::Kind::kNormal: return text + "(" + real(generator.a) + "," + real(generator.b) + ")";
    case Generator::Kind::kInt:
      return text + "(" + std::to_string(generator.low) + "," + std::to_string(generator.high) + ")";
  }
  return text;
}

}  // namespace pterun
