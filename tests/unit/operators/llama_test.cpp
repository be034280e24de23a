#include <cmath>
#include <limits>
#include <optional>

#include <catch2/catch_test_macros.hpp>

#include "support/numeric.h"
#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Sizes {
  std::size_t batch = 1, queries = 1, cache = 8, heads = 2, kv_heads = 1, dim = 4;
};

// Attention by its definition over tensors [batch, sequence, heads, dim]; `sees` says which keys a query counts.
template <typename Sees>
Values attention(const Sizes& s, const Values& q, const Values& k, const Values& v, double scale, const Sees& bias) {
  Values out(q.size());
  for (std::size_t b = 0; b < s.batch; ++b) {
    for (std::size_t i = 0; i < s.queries; ++i) {
      for (std::size_t h = 0; h < s.heads; ++h) {
        const std::size_t kv = h / (s.heads / s.kv_heads);
        const std::size_t row = ((b * s.queries + i) * s.heads + h) * s.dim;
        Values weights(s.cache);
        double sum = 0.0;
        for (std::size_t j = 0; j < s.cache; ++j) {
          double score = 0.0;
          for (std::size_t d = 0; d < s.dim; ++d) {
            score += q[row + d] * k[((b * s.cache + j) * s.kv_heads + kv) * s.dim + d];
          }
          weights[j] = std::exp(score * scale + bias(i, j));
          sum += weights[j];
        }
        for (std::size_t d = 0; d < s.dim; ++d) {
          for (std::size_t j = 0; j < s.cache; ++j) {
            out[row + d] += weights[j] / sum * v[((b * s.cache + j) * s.kv_heads + kv) * s.dim + d];
          }
        }
      }
    }
  }
  return out;
}

Shape shape(std::size_t batch, std::size_t sequence, std::size_t heads, std::size_t dim) {
  return {std::int64_t(batch), std::int64_t(sequence), std::int64_t(heads), std::int64_t(dim)};
}

TEST_CASE("custom_sdpa attends to the cache up to the query's position") {
  const Sizes cases[] = {{1, 1, 40, 4, 2, 20}, {2, 3, 16, 4, 4, 8}, {1, 37, 64, 2, 1, 16}};
  for (const Sizes& s : cases) {
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat16}) {
      for (const bool causal : {true, false}) {
        HostTensor q = make_tensor(dtype, shape(s.batch, s.queries, s.heads, s.dim),
                                   random_values(s.batch * s.queries * s.heads * s.dim, 1));
        const std::size_t kv_count = s.batch * s.cache * s.kv_heads * s.dim;
        HostTensor k = make_tensor(dtype, shape(s.batch, s.cache, s.kv_heads, s.dim), random_values(kv_count, 2));
        HostTensor v = make_tensor(dtype, shape(s.batch, s.cache, s.kv_heads, s.dim), random_values(kv_count, 3));
        HostTensor out = make_output(dtype, q.view().shape());
        REQUIRE_RESULT(OperatorCall("llama::custom_sdpa.out", 2)
                           .tensor(q)
                           .tensor(k)
                           .tensor(v)
                           .integer(5)
                           .none()
                           .number(0)
                           .boolean(causal)
                           .none()
                           .tensor(out)
                           .run());
        const Values want = attention(
            s, values_of(q), values_of(k), values_of(v), 1.0 / std::sqrt(double(s.dim)),
            [&](std::size_t i, std::size_t j) { return j < 5 + (causal ? i + 1 : s.queries) ? 0.0 : -kInfinity; });
        const double slack = dtype == DType::kFloat32 ? 1e-5 : dtype == DType::kFloat16 ? 2e-3 : 1e-2;
        CAPTURE(dtype_name(dtype), causal, s.queries);
        CHECK(largest_excess(values_of(out), want, slack, slack) <= 0);
      }
    }
  }
}

TEST_CASE("a mask is added to the scores of the whole cache") {
  const Sizes s{1, 3, 8, 2, 1, 4};
  HostTensor q = make_tensor(DType::kFloat32, shape(1, 3, 2, 4), random_values(24, 1));
  HostTensor k = make_tensor(DType::kFloat32, shape(1, 8, 1, 4), random_values(32, 2));
  HostTensor mask = make_tensor(DType::kFloat32, {3, 8}, random_values(24, 3));
  HostTensor out = make_output(DType::kFloat32, q.view().shape());
  REQUIRE_RESULT(OperatorCall("llama::custom_sdpa.out")
                     .tensor(q)
                     .tensor(k)
                     .tensor(k)
                     .integer(2)
                     .tensor(mask)
                     .number(0)
                     .boolean(false)
                     .number(0.3)
                     .tensor(out)
                     .run());
  const Values bias = values_of(mask);
  const Values want = attention(s, values_of(q), values_of(k), values_of(k), 0.3,
                                [&](std::size_t i, std::size_t j) { return bias[i * 8 + j]; });
  CHECK(largest_excess(values_of(out), want, 1e-5, 1e-5) <= 0);
  const auto both = OperatorCall("llama::custom_sdpa.out")
                        .tensor(q)
                        .tensor(k)
                        .tensor(k)
                        .integer(2)
                        .tensor(mask)
                        .number(0)
                        .boolean(true)
                        .none()
                        .tensor(out)
                        .run();
  REQUIRE_FALSE(both.has_value());
  CHECK(both.error().message.find("attn_mask and is_causal exclude each other") != std::string::npos);
}

TEST_CASE("sdpa_with_kv_cache writes the cache first") {
  const Sizes s{1, 2, 8, 2, 1, 4};
  HostTensor q = make_tensor(DType::kFloat32, shape(1, 2, 2, 4), random_values(16, 1));
  HostTensor k = make_tensor(DType::kFloat32, shape(1, 2, 1, 4), random_values(8, 2));
  HostTensor v = make_tensor(DType::kFloat32, shape(1, 2, 1, 4), random_values(8, 3));
  HostTensor key_cache = make_tensor(DType::kFloat32, shape(1, 8, 1, 4), random_values(32, 4));
  HostTensor value_cache = make_tensor(DType::kFloat32, shape(1, 8, 1, 4), random_values(32, 5));
  HostTensor out = make_output(DType::kFloat32, q.view().shape());
  Values keys = values_of(key_cache);
  REQUIRE_RESULT(OperatorCall("llama::sdpa_with_kv_cache.out")
                     .tensor(q)
                     .tensor(k)
                     .tensor(v)
                     .tensor(key_cache)
                     .tensor(value_cache)
                     .integer(3)
                     .integer(2)
                     .none()
                     .number(0)
                     .boolean(true)
                     .none()
                     .tensor(out)
                     .run());
  std::copy_n(values_of(k).begin(), 8, keys.begin() + 12);
  CHECK(values_of(key_cache) == keys);
  const Values want = attention(s, values_of(q), keys, values_of(value_cache), 0.5,
                                [](std::size_t i, std::size_t j) { return j <= 3 + i ? 0.0 : -kInfinity; });
  CHECK(largest_excess(values_of(out), want, 1e-5, 1e-5) <= 0);
}

TEST_CASE("custom_quantized_sdpa attends to dequantized rows in both layouts") {
  for (const bool heads_first : {false, true}) {
    const std::size_t sequence = 3;
    const Shape layout = heads_first ? Shape{1, 2, 3, 4} : Shape{1, 3, 2, 4};
    HostTensor q = make_tensor(DType::kInt8, layout, random_integers(24, 1, -20, 20));
    HostTensor k = make_tensor(DType::kInt8, layout, random_integers(24, 2, -20, 20));
    HostTensor zeros = make_tensor(DType::kInt8, {1, 3, 2, 1}, random_integers(6, 3, -3, 3));
    HostTensor scales = make_tensor(DType::kFloat32, {1, 3, 2, 1}, random_values(6, 4, 0.1, 0.2));
    HostTensor out = make_output(DType::kFloat32, layout);
    OperatorCall call("llama::custom_quantized_sdpa.out");
    call.tensor(q).tensor(k).tensor(k).integer(0).none().number(0).boolean(true).none();
    for (int i = 0; i < 3; ++i)
      call.tensor(zeros).tensor(scales);
    REQUIRE_RESULT(call.boolean(heads_first).tensor(out).run());
    // To [sequence, heads, dim] for the reference.
    const auto real = [&](const Values& values, bool quantized) {
      Values result(24);
      for (std::size_t i = 0; i < 24; ++i) {
        const std::size_t row = i / 4;
        const double value = quantized ? (values[i] - values_of(zeros)[row]) * values_of(scales)[row] : values[i];
        const std::size_t to = heads_first ? (row % sequence) * 2 + row / sequence : row;
        result[to * 4 + i % 4] = value;
      }
      return result;
    };
    const Values want =
        attention({1, 3, 3, 2, 2, 4}, real(values_of(q), true), real(values_of(k), true), real(values_of(k), true), 0.5,
                  [](std::size_t i, std::size_t j) { return j <= i ? 0.0 : -kInfinity; });
    CHECK(largest_excess(real(values_of(out), false), want, 1e-5, 1e-5) <= 0);
  }
}

TEST_CASE("update_cache writes rows, and refuses positions outside the cache") {
  HostTensor value = make_tensor(DType::kFloat16, {2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  HostTensor cache = make_tensor(DType::kFloat16, {2, 4, 1, 2}, Values(16, 0.0));
  HostTensor out = make_output(DType::kFloat16, {1});
  REQUIRE_RESULT(OperatorCall("llama::update_cache.out").tensor(value).tensor(cache).integer(1).tensor(out).run());
  CHECK(values_of(cache) == Values{0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8, 0, 0});
  for (const std::int64_t start : {-1, 3}) {
    const auto result =
        OperatorCall("llama::update_cache.out").tensor(value).tensor(cache).integer(start).tensor(out).run();
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().message.find("is outside cache float16[2, 4, 1, 2]") != std::string::npos);
  }
  HostTensor places = make_tensor(DType::kInt64, {2, 2}, {3, 0, 0, 1});
  REQUIRE_RESULT(OperatorCall("llama::update_cache_with_indices.out")
                     .tensor(value)
                     .tensor(cache)
                     .integer(0)
                     .tensor(places)
                     .tensor(out)
                     .run());
  CHECK(values_of(cache) == Values{3, 4, 1, 2, 3, 4, 1, 2, 5, 6, 7, 8, 7, 8, 0, 0});
  HostTensor wrong = make_tensor(DType::kInt64, {2, 2}, {3, 0, 0, 4});
  CHECK_FALSE(OperatorCall("llama::update_cache_with_indices.out")
                  .tensor(value)
                  .tensor(cache)
                  .integer(0)
                  .tensor(wrong)
                  .tensor(out)
                  .run()
                  .has_value());
}

TEST_CASE("fallback copies") {
  HostTensor x = make_tensor(DType::kInt32, {3}, {1, 2, 3});
  HostTensor out = make_output(DType::kInt32, {3});
  REQUIRE_RESULT(OperatorCall("llama::fallback.out").tensor(x).tensor(out).run());
  CHECK(values_of(out) == Values{1, 2, 3});
}

// Sylvester's matrix: the sign is the parity of the bits that row and column share.
double sylvester(std::size_t row, std::size_t column) {
  return __builtin_popcountll(row & column) % 2 == 0 ? 1 : -1;
}

TEST_CASE("fast_hadamard_transform multiplies by a scaled Hadamard matrix") {
  for (const std::size_t n : {1, 2, 16, 64}) {
    HostTensor x = make_tensor(DType::kFloat32, {2, std::int64_t(n)}, random_values(2 * n, 1));
    HostTensor out = make_output(DType::kFloat32, x.view().shape());
    REQUIRE_RESULT(OperatorCall("llama::fast_hadamard_transform.out").tensor(x).tensor(out).run());
    Values want(2 * n);
    for (std::size_t i = 0; i < 2 * n; ++i) {
      for (std::size_t k = 0; k < n; ++k)
        want[i] += values_of(x)[i / n * n + k] * sylvester(i % n, k);
      want[i] /= std::sqrt(double(n));
    }
    CHECK(largest_excess(values_of(out), want, 1e-5, 1e-5) <= 0);
  }
}

TEST_CASE("the factor 28 of a Hadamard transform is orthogonal and not scaled") {
  Values identity(56 * 56, 0.0);
  for (std::size_t i = 0; i < 56; ++i)
    identity[i * 57] = 1.0;
  HostTensor x = make_tensor(DType::kFloat64, {56, 56}, identity);
  HostTensor out = make_output(DType::kFloat64, {56, 56});
  REQUIRE_RESULT(OperatorCall("llama::fast_hadamard_transform.out").tensor(x).tensor(out).run());
  const Values rows = values_of(out);
  // The first rows of the blocks A B C D of Williamson's matrix, for the even columns.
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(std::abs(rows[2 * 56 * i] * std::sqrt(2.0) - (i == 0 ? 1.0 : -1.0)) < 1e-12);
  double largest = 0.0;
  for (std::size_t a = 0; a < 56; ++a) {
    for (std::size_t b = 0; b < 56; ++b) {
      double sum = 0.0;
      for (std::size_t k = 0; k < 56; ++k)
        sum += rows[a * 56 + k] * rows[b * 56 + k];
      largest = std::max(largest, std::abs(sum - (a == b ? 28.0 : 0.0)));
    }
  }
  CHECK(largest < 1e-9);
  HostTensor odd = make_tensor(DType::kFloat32, {1, 12}, Values(12, 1.0));
  HostTensor odd_out = make_output(DType::kFloat32, {1, 12});
  const auto result = OperatorCall("llama::fast_hadamard_transform.out").tensor(odd).tensor(odd_out).run();
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message.find("is neither 2^k nor 28 * 2^k") != std::string::npos);
}

}  // namespace
}  // namespace pterun::test
