#include <cmath>

#include <catch2/catch_test_macros.hpp>

#include "support/numeric.h"
#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;

struct Sizes {
  std::size_t batch = 2, query_heads = 4, heads = 2, tokens = 5, keys = 3, values = 6;
  bool channel_decay = true;
};

struct Inputs {
  Values query, key, value, decay, beta, state;
};

Values shares(std::size_t count, std::uint32_t seed) {
  Values values = random_values(count, seed);
  for (double& value : values)
    value = 1 / (1 + std::exp(-value));
  return values;
}

Inputs random_inputs(const Sizes& s) {
  const std::size_t rows = s.batch * s.heads * s.tokens;
  return {random_values(s.batch * s.query_heads * s.tokens * s.keys, 1),
          random_values(rows * s.keys, 2),
          random_values(rows * s.values, 3),
          shares(s.channel_decay ? rows * s.keys : rows, 4),
          shares(rows, 5),
          random_values(s.batch * s.heads * s.keys * s.values, 6)};
}

// By the definition, one number of the state after the other. Returns the outputs; `state` becomes the final one.
Values delta_rule(const Sizes& s, const Inputs& in, Values& state) {
  Values out(s.batch * s.query_heads * s.tokens * s.values);
  for (std::size_t head = 0; head < s.batch * s.heads; ++head) {
    const auto at = [&](std::size_t k, std::size_t v) -> double& { return state[(head * s.keys + k) * s.values + v]; };
    for (std::size_t t = 0; t < s.tokens; ++t) {
      const std::size_t row = head * s.tokens + t;
      for (std::size_t v = 0; v < s.values; ++v) {
        double known = 0;
        for (std::size_t k = 0; k < s.keys; ++k) {
          at(k, v) *= in.decay[s.channel_decay ? row * s.keys + k : row];
          known += at(k, v) * in.key[row * s.keys + k];
        }
        const double change = (in.value[row * s.values + v] - known) * in.beta[row];
        for (std::size_t k = 0; k < s.keys; ++k)
          at(k, v) += in.key[row * s.keys + k] * change;
        for (std::size_t q = 0; q < s.query_heads / s.heads; ++q) {
          const std::size_t query_row = (head * (s.query_heads / s.heads) + q) * s.tokens + t;
          for (std::size_t k = 0; k < s.keys; ++k)
            out[query_row * s.values + v] += at(k, v) * in.query[query_row * s.keys + k];
        }
      }
    }
  }
  return out;
}

Shape shape_of(std::initializer_list<std::size_t> sizes) {
  Shape shape;
  for (const std::size_t size : sizes)
    shape.push_back(static_cast<std::int64_t>(size));
  return shape;
}

struct Tensors {
  HostTensor query, key, value, decay, beta, state, out, final_state;

  Tensors(const Sizes& s, const Inputs& in, DType dtype = DType::kFloat32)
      : query(make_tensor(dtype, shape_of({s.batch, s.query_heads, s.tokens, s.keys}), in.query)),
        key(make_tensor(dtype, shape_of({s.batch, s.heads, s.tokens, s.keys}), in.key)),
        value(make_tensor(dtype, shape_of({s.batch, s.heads, s.tokens, s.values}), in.value)),
        decay(make_tensor(
            dtype,
            s.channel_decay ? shape_of({s.batch, s.heads, s.tokens, s.keys}) : shape_of({s.batch, s.heads, s.tokens}),
            in.decay)),
        beta(make_tensor(dtype, shape_of({s.batch, s.heads, s.tokens}), in.beta)),
        state(make_tensor(dtype, shape_of({s.batch, s.heads, s.keys, s.values}), in.state)),
        out(make_output(dtype, shape_of({s.batch, s.query_heads, s.tokens, s.values}))),
        final_state(make_output(dtype, shape_of({s.batch, s.heads, s.keys, s.values}))) {}

  Result<void> run(const char* name = "llama::gated_delta_rule.out") {
    return OperatorCall(name)
        .tensor(query)
        .tensor(key)
        .tensor(value)
        .tensor(decay)
        .tensor(beta)
        .tensor(state)
        .tensor(out)
        .tensor(final_state)
        .run();
  }
};

TEST_CASE("gated_delta_rule forgets, learns and answers token by token") {
  const Sizes cases[] = {{}, {1, 3, 3, 1, 8, 4, false}, {2, 4, 2, 40, 5, 7, false}, {1, 2, 1, 0, 3, 3, true}};
  for (const Sizes& s : cases) {
    for (const char* name : {"llama::gated_delta_rule.out", "llama::channelwise_gated_delta_rule.out"}) {
      const Inputs inputs = random_inputs(s);
      Tensors tensors(s, inputs);
      REQUIRE_RESULT(tensors.run(name));
      Values state = inputs.state;
      CHECK(largest_excess(values_of(tensors.out), delta_rule(s, inputs, state), 1e-4, 1e-4) <= 0);
      CHECK(largest_excess(values_of(tensors.final_state), state, 1e-4, 1e-4) <= 0);
      CHECK(values_of(tensors.state) ==
            values_of(make_tensor(DType::kFloat32, tensors.state.view().shape(), inputs.state)));
    }
  }
}

TEST_CASE("gated_delta_rule refuses heads, shapes and dtypes that do not fit") {
  const Sizes odd_heads{.query_heads = 3};
  Tensors heads(odd_heads, random_inputs(odd_heads));
  const auto wrong_heads = heads.run();
  REQUIRE_FALSE(wrong_heads.has_value());
  CHECK(wrong_heads.error().message.find("no multiple") != std::string::npos);

  const Sizes s;
  Tensors shapes(s, random_inputs(s));
  shapes.beta = make_output(DType::kFloat32, {2, 2, 4});
  const auto wrong_shape = shapes.run();
  REQUIRE_FALSE(wrong_shape.has_value());
  CHECK(wrong_shape.error().message.find("beta is float32[2, 2, 4]") != std::string::npos);

  Tensors halves(s, random_inputs(s), DType::kFloat16);
  const auto wrong_dtype = halves.run();
  REQUIRE_FALSE(wrong_dtype.has_value());
  CHECK(wrong_dtype.error().message.find("float16") != std::string::npos);
}

TEST_CASE("tile_crop cuts an image into tiles, row by row") {
  Values image(2 * 4 * 6);
  for (std::size_t i = 0; i < image.size(); ++i)
    image[i] = static_cast<double>(i);
  HostTensor x = make_tensor(DType::kInt8, {2, 4, 6}, image);
  HostTensor out = make_output(DType::kInt8, {6, 2, 2, 2});
  REQUIRE_RESULT(OperatorCall("preprocess::tile_crop.out").tensor(x).integer(2).tensor(out).run());
  Values want;
  for (int tile = 0; tile < 6; ++tile) {
    for (int channel = 0; channel < 2; ++channel) {
      for (int y = 0; y < 2; ++y) {
        for (int c = 0; c < 2; ++c)
          want.push_back(channel * 24 + (tile / 3 * 2 + y) * 6 + tile % 3 * 2 + c);
      }
    }
  }
  CHECK(values_of(out) == want);
}

TEST_CASE("tile_crop refuses images that are not made of whole tiles") {
  HostTensor x = make_output(DType::kFloat32, {3, 4, 6});
  HostTensor out = make_output(DType::kFloat32, {1, 3, 4, 4});
  for (const std::int64_t size : {std::int64_t{4}, std::int64_t{0}, std::int64_t{-2}}) {
    const auto result = OperatorCall("preprocess::tile_crop.out").tensor(x).integer(size).tensor(out).run();
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().message.find("is not made of tiles of " + std::to_string(size)) != std::string::npos);
  }
}

}  // namespace
}  // namespace pterun::test
