#include <cmath>
#include <limits>
#include <optional>

#include <catch2/catch_test_macros.hpp>

#include "support/numeric.h"
#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;

const Values kImage = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

// Expected values of this file are PyTorch 2.13's.
struct Bilinear {
  std::vector<std::int64_t> size;
  std::optional<std::vector<double>> factors;
  bool align_corners;
  Values want;
};

TEST_CASE("bilinear upsampling takes a size or scale factors, with and without aligned corners") {
  const std::vector<Bilinear> cases = {
      {{2, 6}, {}, false, {1.0, 1.5, 2.16666675, 2.83333325, 3.5, 4.0, 7.0, 7.5, 8.16666698, 8.83333302, 9.5, 10.0}},
      {{5, 3}, {}, true, {0.0, 1.5, 3.0, 2.0, 3.5, 5.0, 4.0, 5.5, 7.0, 6.0, 7.5, 9.0, 8.0, 9.5, 11.0}},
  };
  for (const Bilinear& c : cases) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
      HostTensor x = make_tensor(dtype, {1, 1, 3, 4}, kImage);
      HostTensor out = make_output(dtype, {1, 1, c.size[0], c.size[1]});
      REQUIRE_RESULT(OperatorCall("aten::upsample_bilinear2d.vec_out")
                         .tensor(x)
                         .integers(c.size)
                         .boolean(c.align_corners)
                         .none()
                         .tensor(out)
                         .run());
      const double slack = dtype == DType::kFloat16 ? 1e-3 : 1e-6;
      CHECK(largest_excess(values_of(out), c.want, slack, slack) <= 0);
    }
  }
  HostTensor x = make_tensor(DType::kFloat32, {1, 1, 3, 4}, kImage);
  HostTensor out = make_output(DType::kFloat32, {1, 1, 5, 8});
  REQUIRE_RESULT(OperatorCall("aten::upsample_bilinear2d.vec_out")
                     .tensor(x)
                     .none()
                     .boolean(false)
                     .numbers({1.9, 2.1})
                     .tensor(out)
                     .run());
  const Values got = values_of(out);
  const Values want = {0.0, 0.214285716, 0.690476179, 1.16666663, 1.64285719, 2.11904764, 2.59523821, 3.0, 1.15789485};
  CHECK(largest_excess({got.begin(), got.begin() + 9}, want, 1e-5, 1e-5) <= 0);
}

TEST_CASE("an antialiased resize widens its filter when it shrinks") {
  HostTensor x = make_tensor(DType::kFloat32, {1, 1, 3, 4}, DimOrder::channels_last(), kImage);
  HostTensor out = make_output(DType::kFloat32, {1, 1, 2, 2}, DimOrder::channels_last());
  REQUIRE_RESULT(OperatorCall("aten::_upsample_bilinear2d_aa.out")
                     .tensor(x)
                     .integers({2, 2})
                     .boolean(false)
                     .none()
                     .none()
                     .tensor(out)
                     .run());
  CHECK(largest_excess(values_of(out), {2.21428585, 3.78571463, 7.21428585, 8.78571415}, 1e-6, 1e-6) <= 0);
}

TEST_CASE("bytes are resized in eager's fixed point") {
  Values bytes;
  for (const double value : kImage)
    bytes.push_back(20 * value);
  HostTensor x = make_tensor(DType::kUInt8, {1, 1, 3, 4}, bytes);
  HostTensor out = make_output(DType::kUInt8, {1, 1, 4, 7});
  REQUIRE_RESULT(OperatorCall("aten::upsample_bilinear2d.vec_out")
                     .tensor(x)
                     .integers({4, 7})
                     .boolean(false)
                     .none()
                     .tensor(out)
                     .run());
  CHECK(values_of(out) == Values{0,   7,   19,  30,  41,  53,  60,  50,  57,  69,  80,  91,  103, 110,
                                 110, 117, 129, 140, 151, 163, 170, 160, 167, 179, 190, 201, 213, 220});
  HostTensor small = make_output(DType::kUInt8, {1, 1, 2, 3});
  REQUIRE_RESULT(OperatorCall("aten::_upsample_bilinear2d_aa.out")
                     .tensor(x)
                     .integers({2, 3})
                     .boolean(false)
                     .none()
                     .none()
                     .tensor(small)
                     .run());
  CHECK(values_of(small) == Values{36, 60, 84, 136, 160, 184});
}

TEST_CASE("nearest upsampling repeats elements in any layout and dtype") {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kUInt8}) {
    for (const bool last : {false, true}) {
      const DimOrder order = last ? DimOrder::channels_last() : DimOrder::contiguous(4);
      Values two_planes = kImage;
      for (const double value : kImage)
        two_planes.push_back(value + 20);
      HostTensor x = make_tensor(dtype, {1, 2, 3, 4}, order, two_planes);
      HostTensor out = make_output(dtype, {1, 2, 2, 6}, order);
      REQUIRE_RESULT(
          OperatorCall("aten::upsample_nearest2d.vec_out").tensor(x).integers({2, 6}).none().tensor(out).run());
      Values want = {0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7};
      for (std::size_t i = 0; i < 12; ++i)
        want.push_back(want[i] + 20);
      CHECK(values_of(out) == want);
    }
  }
  HostTensor x = make_tensor(DType::kFloat32, {1, 1, 3, 4}, kImage);
  HostTensor out = make_output(DType::kFloat32, {1, 1, 6, 2});
  REQUIRE_RESULT(
      OperatorCall("aten::upsample_nearest2d.vec_out").tensor(x).none().numbers({2.0, 0.5}).tensor(out).run());
  CHECK(values_of(out) == Values{0, 2, 0, 2, 4, 6, 4, 6, 8, 10, 8, 10});
}

TEST_CASE("an axis that keeps its size is not resampled, and doubling repeats, whatever the factor") {
  HostTensor x = make_tensor(DType::kFloat32, {1, 1, 1, 3}, {10, 20, 30});
  HostTensor out = make_output(DType::kFloat32, {1, 1, 2, 3});
  // 3 * 1.3 is 3 elements again; 1 * 2.9 are two.
  REQUIRE_RESULT(
      OperatorCall("aten::upsample_nearest2d.vec_out").tensor(x).none().numbers({2.9, 1.3}).tensor(out).run());
  CHECK(values_of(out) == Values{10, 20, 30, 10, 20, 30});
  OperatorCall linear("aten::upsample_bilinear2d.vec_out");
  REQUIRE_RESULT(linear.tensor(x).none().boolean(false).numbers({2.9, 1.3}).tensor(out).run());
  CHECK(values_of(out) == Values{10, 20, 30, 10, 20, 30});
  HostTensor twice = make_output(DType::kFloat32, {1, 1, 1, 6});
  REQUIRE_RESULT(
      OperatorCall("aten::upsample_nearest2d.vec_out").tensor(x).none().numbers({1.0, 2.3}).tensor(twice).run());
  CHECK(values_of(twice) == Values{10, 10, 20, 20, 30, 30});
}

TEST_CASE("sizes and scales that make no sense are refused") {
  HostTensor x = make_tensor(DType::kFloat32, {1, 1, 3, 4}, kImage);
  HostTensor flat = make_tensor(DType::kFloat32, {3, 4}, kImage);
  HostTensor out = make_output(DType::kFloat32, {1, 1, 1, 1});
  const auto run = [&](HostTensor& input, std::optional<std::vector<std::int64_t>> size) {
    OperatorCall call("aten::upsample_nearest2d.vec_out");
    call.tensor(input);
    size ? call.integers(*size) : call.none();
    const auto result = call.none().tensor(out).run();
    return result ? "" : result.error().message;
  };
  CHECK(run(x, std::vector<std::int64_t>{0, 1}).find("cannot resize float32[1, 1, 3, 4] to size [0, 1]") !=
        std::string::npos);
  CHECK(run(x, std::nullopt).find("neither output_size nor scale_factors") != std::string::npos);
  CHECK(run(flat, std::vector<std::int64_t>{1, 1}).find("input is float32[3, 4], expected rank 4") !=
        std::string::npos);
  const auto factors =
      OperatorCall("aten::upsample_nearest2d.vec_out").tensor(x).none().numbers({-1.0, 2.0}).tensor(out).run();
  REQUIRE_FALSE(factors.has_value());
  CHECK(factors.error().message.find("scale_factors are not two positive numbers") != std::string::npos);
}

TEST_CASE("an antialiased resize to the same size copies any dtype") {
  HostTensor x = make_tensor(DType::kInt32, {1, 1, 2, 2}, {1, -2, 3, 4});
  HostTensor out = make_output(DType::kInt32, {1, 1, 2, 2});
  const auto resize = [&](std::vector<std::int64_t> size, HostTensor& to) {
    return OperatorCall("aten::_upsample_bilinear2d_aa.out")
        .tensor(x)
        .integers(size)
        .boolean(false)
        .none()
        .none()
        .tensor(to)
        .run();
  };
  REQUIRE_RESULT(resize({2, 2}, out));
  CHECK(values_of(out) == Values{1, -2, 3, 4});
  HostTensor larger = make_output(DType::kInt32, {1, 1, 3, 2});
  CHECK_FALSE(resize({3, 2}, larger).has_value());
}

TEST_CASE("grid_sampler_2d interpolates and pads in every mode") {
  const Values grid_values = {-0.9, -0.7, 0.1, 0.2, 1.4, 0.5, -2.3, 3.1};
  const std::vector<Values> wants = {{0.0, 6.900001, 0.0, 0.0},
                                     {1.35, 6.450001, 3.599999, 0.0},
                                     {0.0, 6.900001, 10.0, 8.0},
                                     {1.35, 6.450001, 9.0, 8.0},
                                     {0.0, 6.900001, 9.7, 2.1},
                                     {1.35, 6.450001, 8.4, 2.349999},
                                     {0.0, 6.0, 0.0, 0.0},
                                     {0.0, 6.0, 0.0, 0.0},
                                     {0.0, 6.0, 11.0, 8.0},
                                     {0.0, 6.0, 11.0, 8.0},
                                     {0.0, 6.0, 11.0, 2.0},
                                     {0.0, 6.0, 10.0, 2.0},
                                     {-0.20352, 7.671342, -1.256247, 0.0},
                                     {1.128188, 6.934659, 4.116377, 0.0},
                                     {-0.245624, 7.214994, 10.234378, 8.0},
                                     {1.040344, 6.703881, 9.447002, 8.0},
                                     {-0.300002, 7.214994, 10.002626, 1.46025},
                                     {0.518064, 6.79988, 9.318003, 1.986624}};
  for (std::size_t i = 0; i < wants.size(); ++i) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      HostTensor x = make_tensor(dtype, {1, 1, 3, 4}, kImage);
      HostTensor grid = make_tensor(dtype, {1, 2, 2, 2}, grid_values);
      HostTensor out = make_output(dtype, {1, 1, 2, 2});
      REQUIRE_RESULT(OperatorCall("aten::grid_sampler_2d.out")
                         .tensor(x)
                         .tensor(grid)
                         .integer(static_cast<std::int64_t>(i / 6))
                         .integer(static_cast<std::int64_t>(i / 2 % 3))
                         .boolean(i % 2 == 1)
                         .tensor(out)
                         .run());
      CAPTURE(i);
      CHECK(largest_excess(values_of(out), wants[i], 2e-5, 2e-5) <= 0);
    }
  }
}

TEST_CASE("grid_sampler_2d finds the nearest pixel in the grid's dtype") {
  // ((0.2001953125 + 1) * 5 - 1) / 2 is 2.5005; in bfloat16 1.2001953125 is 1.203125, the product 6 and the place 2.5,
  // whose nearest even pixel is 2.
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    HostTensor x = make_tensor(dtype, {1, 1, 1, 5}, {0, 1, 2, 3, 4});
    HostTensor grid = make_tensor(dtype, {1, 1, 2, 2}, {0.2001953125, 0, -0.8, 0});
    HostTensor out = make_output(dtype, {1, 1, 1, 2});
    REQUIRE_RESULT(OperatorCall("aten::grid_sampler_2d.out")
                       .tensor(x)
                       .tensor(grid)
                       .integer(1)
                       .integer(0)
                       .boolean(false)
                       .tensor(out)
                       .run());
    CHECK(values_of(out) == Values{dtype == DType::kFloat32 ? 3.0 : 2.0, 0.0});
  }
}

TEST_CASE("grid_sampler_2d survives places that are no numbers") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (std::int64_t mode = 0; mode < 9; ++mode) {
    HostTensor x = make_tensor(DType::kFloat32, {1, 1, 3, 4}, kImage);
    HostTensor grid = make_tensor(DType::kFloat32, {1, 1, 3, 2}, {kNan, 0, kInfinity, 0, 0, 1e38});
    HostTensor out = make_output(DType::kFloat32, {1, 1, 1, 3});
    REQUIRE_RESULT(OperatorCall("aten::grid_sampler_2d.out")
                       .tensor(x)
                       .tensor(grid)
                       .integer(mode / 3)
                       .integer(mode % 3)
                       .boolean(false)
                       .tensor(out)
                       .run());
    CHECK(out.view().numel() == 3);
  }
}

TEST_CASE("grid_sampler_2d refuses unknown modes and grids of another shape") {
  HostTensor x = make_tensor(DType::kFloat32, {1, 1, 3, 4}, kImage);
  HostTensor grid = make_tensor(DType::kFloat32, {1, 1, 1, 2}, {0, 0});
  HostTensor out = make_output(DType::kFloat32, {1, 1, 1, 1});
  const auto mode = OperatorCall("aten::grid_sampler_2d.out")
                        .tensor(x)
                        .tensor(grid)
                        .integer(3)
                        .integer(0)
                        .boolean(false)
                        .tensor(out)
                        .run();
  REQUIRE_FALSE(mode.has_value());
  CHECK(mode.error().message.find("interpolation mode 3") != std::string::npos);
  const auto shape = OperatorCall("aten::grid_sampler_2d.out")
                         .tensor(x)
                         .tensor(x)
                         .integer(0)
                         .integer(0)
                         .boolean(false)
                         .tensor(out)
                         .run();
  REQUIRE_FALSE(shape.has_value());
  CHECK(shape.error().message.find("grid float32[1, 1, 3, 4] does not fit input float32[1, 1, 3, 4]") !=
        std::string::npos);
}

}  // namespace
}  // namespace pterun::test
