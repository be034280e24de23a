// Times XNNPACK operators on one thread, without pterun: prints "NAME MICROSECONDS", the fastest of many runs.
// tests/bench/kernels/compare builds it against several builds of XNNPACK; decision 0001 uses the numbers.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <xnnpack.h>

namespace {

constexpr float kInfinity = __builtin_inff();

void check(xnn_status status, const char* what) {
  if (status != xnn_status_success) {
    std::fprintf(stderr, "%s: status %d\n", what, static_cast<int>(status));
    std::exit(1);
  }
}

template <typename T>
std::vector<T> make_data(size_t count, T (*at)(uint32_t)) {
  std::vector<T> data(count + XNN_EXTRA_BYTES);
  uint32_t state = 1;
  for (T& value : data) {
    state = state * 1664525u + 1013904223u;
    value = at(state >> 16);
  }
  return data;
}

std::vector<float> floats(size_t count) {
  return make_data<float>(count, [](uint32_t bits) { return static_cast<float>(bits) / 65536.0f - 0.5f; });
}

std::vector<int8_t> bytes(size_t count) {
  return make_data<int8_t>(count, [](uint32_t bits) { return static_cast<int8_t>(bits & 0xff); });
}

void report(const char* name, xnn_operator_t op) {
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(700);
  do {
    const Clock::time_point start = Clock::now();
    check(xnn_run_operator(op, nullptr), name);
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  } while (Clock::now() < end);
  std::printf("%s %.1f\n", name, best);
  xnn_delete_operator(op);
}

void convolution(const char* name, uint32_t kernel, uint32_t groups, size_t size, size_t in, size_t out) {
  const uint32_t pad = kernel / 2;
  const std::vector<float> weights = floats(groups * out * in * kernel * kernel);
  const std::vector<float> bias = floats(groups * out);
  const std::vector<float> input = floats(size * size * groups * in);
  std::vector<float> output(size * size * groups * out);
  xnn_operator_t op = nullptr;
  check(xnn_create_convolution2d_nhwc_f32(pad, pad, pad, pad, kernel, kernel, 1, 1, 1, 1, groups, in, out, groups * in,
                                          groups * out, weights.data(), bias.data(), -kInfinity, kInfinity, 0, nullptr,
                                          nullptr, &op),
        name);
  size_t workspace_bytes = 0, alignment = 0;
  check(xnn_reshape_convolution2d_nhwc_f32(op, 1, size, size, &workspace_bytes, &alignment, nullptr, nullptr, nullptr),
        name);
  std::vector<char> workspace(workspace_bytes + 64);
  void* aligned = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(workspace.data()) + 63) & ~uintptr_t{63});
  check(xnn_setup_convolution2d_nhwc_f32(op, aligned, input.data(), output.data()), name);
  report(name, op);
}

void fully_connected_f32(const char* name, size_t rows, size_t in, size_t out) {
  const std::vector<float> weights = floats(in * out), bias = floats(out), input = floats(rows * in);
  std::vector<float> output(rows * out);
  xnn_operator_t op = nullptr;
  check(xnn_create_fully_connected_nc_f32(in, out, in, out, weights.data(), bias.data(), -kInfinity, kInfinity, 0,
                                          nullptr, nullptr, &op),
        name);
  check(xnn_reshape_fully_connected_nc_f32(op, rows, nullptr), name);
  check(xnn_setup_fully_connected_nc_f32(op, input.data(), output.data()), name);
  report(name, op);
}

// Dynamically quantised input, one scale an output column: the operator that has AMX kernels.
void fully_connected_qd8(const char* name, size_t rows, size_t in, size_t out) {
  const std::vector<int8_t> weights = bytes(in * out), input = bytes(rows * in);
  const std::vector<float> scale = floats(out), bias = floats(out);
  std::vector<float> positive(scale.size());
  std::transform(scale.begin(), scale.end(), positive.begin(), [](float x) { return 0.01f + x * x; });
  const std::vector<xnn_quantization_params> params(rows + XNN_EXTRA_QUANTIZATION_PARAMS, {3, 0.02f});
  std::vector<float> output(rows * out);
  xnn_operator_t op = nullptr;
  check(xnn_create_fully_connected_nc_qd8_f32_qc8w(in, out, in, out, positive.data(), weights.data(), bias.data(),
                                                   -kInfinity, kInfinity, 0, nullptr, nullptr, &op),
        name);
  check(xnn_reshape_fully_connected_nc_qd8_f32_qc8w(op, rows, nullptr), name);
  check(xnn_setup_fully_connected_nc_qd8_f32_qc8w(op, input.data(), output.data(), params.data()), name);
  report(name, op);
}

}  // namespace

int main() {
  check(xnn_initialize(nullptr), "xnn_initialize");
  convolution("conv3x3_56x56x64_64", 3, 1, 56, 64, 64);
  convolution("conv1x1_28x28x96_576", 1, 1, 28, 96, 576);
  convolution("depthwise3x3_56x56x144", 3, 144, 56, 1, 1);
  fully_connected_f32("fc_f32_128x512_2048", 128, 512, 2048);
  fully_connected_f32("fc_f32_1x2048_2048", 1, 2048, 2048);
  fully_connected_qd8("fc_qd8_128x512_2048", 128, 512, 2048);
  fully_connected_qd8("fc_qd8_1x2048_2048", 1, 2048, 2048);
  return 0;
}
