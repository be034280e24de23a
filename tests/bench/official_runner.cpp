// Runs a program on the official runtime and prints its times and peak memory as one JSON
// object, with the names that pterun's reports use. compare.py alternates it with pterun.
//
//   official_runner MODEL.pte [--method NAME] [--data FILE.ptd] [--mode file|mmap] [--threads N]
//       [--warmup N] [--iterations N] [--input DTYPE:SHAPE:FILE]... [--save-outputs FOLDER]
//
// An input is raw bytes in row-major order, in order of the method's inputs: float32:1x3x8x8:x.bin,
// float32::s.bin for a 0-d tensor, and int:VALUE, double:VALUE or bool:0|1 for a number.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

// The wheel ships the library of this class but not its header.
namespace executorch::extension::threadpool {
class ThreadPool {
 public:
  std::size_t get_thread_count() const;
  bool _unsafe_reset_threadpool(std::uint32_t thread_count);
};
ThreadPool* get_threadpool();
}  // namespace executorch::extension::threadpool

namespace {

using executorch::aten::ScalarType;
using executorch::extension::Module;
using executorch::extension::TensorPtr;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string model;
  std::string method = "forward";
  std::string data;
  std::string output_folder;
  bool map_file = false;
  int threads = 1;
  int warmup = 0;
  int iterations = 1;
  std::vector<std::string> inputs;
};

struct DtypeInfo {
  ScalarType type;
  std::size_t size_bytes;
};

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "official_runner: %s\n", message.c_str());
  std::exit(1);
}

std::string error_text(const char* stage, Error error) {
  std::ostringstream text;
  text << stage << " failed with error 0x" << std::hex << static_cast<std::uint32_t>(error);
  return text.str();
}

std::int64_t elapsed_ns(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

Arguments parse_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name.rfind("--", 0) != 0) {
      arguments.model = name;
      continue;
    }
    if (i + 1 == argc) fail(name + " needs a value");
    const std::string value = argv[++i];
    if (name == "--method")
      arguments.method = value;
    else if (name == "--data")
      arguments.data = value;
    else if (name == "--mode")
      arguments.map_file = value == "mmap";
    else if (name == "--threads")
      arguments.threads = std::atoi(value.c_str());
    else if (name == "--warmup")
      arguments.warmup = std::atoi(value.c_str());
    else if (name == "--iterations")
      arguments.iterations = std::atoi(value.c_str());
    else if (name == "--input")
      arguments.inputs.push_back(value);
    else if (name == "--save-outputs")
      arguments.output_folder = value;
    else
      fail("unknown option " + name);
  }
  if (arguments.model.empty()) fail("no model given");
  return arguments;
}

DtypeInfo dtype_info(const std::string& name) {
  static const std::map<std::string, DtypeInfo> table = {
      {"uint8", {ScalarType::Byte, 1}},        {"int8", {ScalarType::Char, 1}},      {"int16", {ScalarType::Short, 2}},
      {"int32", {ScalarType::Int, 4}},         {"int64", {ScalarType::Long, 8}},     {"float16", {ScalarType::Half, 2}},
      {"float32", {ScalarType::Float, 4}},     {"float64", {ScalarType::Double, 8}}, {"bool", {ScalarType::Bool, 1}},
      {"bfloat16", {ScalarType::BFloat16, 2}},
  };
  const auto found = table.find(name);
  if (found == table.end()) fail("unknown dtype " + name);
  return found->second;
}

std::vector<executorch::aten::SizesType> parse_shape(const std::string& text) {
  std::vector<executorch::aten::SizesType> sizes;
  std::istringstream stream(text);
  for (std::string size; std::getline(stream, size, 'x');)
    sizes.push_back(std::atoi(size.c_str()));
  return sizes;
}

/// One input from its text; `tensors` keeps what the EValue borrows.
EValue make_input(const std::string& text, std::vector<TensorPtr>& tensors) {
  const std::size_t first = text.find(':');
  if (first == std::string::npos) fail("input without ':' in " + text);
  const std::string kind = text.substr(0, first);
  const std::string rest = text.substr(first + 1);
  if (kind == "int") return EValue(static_cast<std::int64_t>(std::atoll(rest.c_str())));
  if (kind == "double") return EValue(std::atof(rest.c_str()));
  if (kind == "bool" && rest.find(':') == std::string::npos) return EValue(rest == "1");

  const std::size_t second = rest.find(':');
  if (second == std::string::npos) fail("input without a file in " + text);
  const DtypeInfo dtype = dtype_info(kind);
  auto sizes = parse_shape(rest.substr(0, second));
  const std::string path = rest.substr(second + 1);
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot read " + path);
  std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  const std::size_t expected = std::accumulate(sizes.begin(), sizes.end(), dtype.size_bytes, std::multiplies<>());
  if (bytes.size() != expected) fail(path + " has another size than its shape");
  tensors.push_back(executorch::extension::make_tensor_ptr(std::move(sizes), std::move(bytes), dtype.type));
  return EValue(tensors.back());
}

void save_outputs(const std::string& folder, const std::vector<EValue>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].isTensor()) continue;
    const auto& tensor = outputs[i].toTensor();
    std::ofstream file(folder + "/" + std::to_string(i) + ".bin", std::ios::binary);
    file.write(static_cast<const char*>(tensor.const_data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
    if (!file) fail("cannot write into " + folder);
  }
}

/// From VmHWM: getrusage's ru_maxrss would start at the peak of the process that called exec.
long peak_rss_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::atol(line.c_str() + 6) * 1024;
  }
  return 0;
}

/// The sample at a share of the sorted samples (nearest rank).
std::int64_t percentile(const std::vector<std::int64_t>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void print_report(std::int64_t load_ns, std::int64_t first_ns, std::vector<std::int64_t> samples, std::size_t threads) {
  std::sort(samples.begin(), samples.end());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
  std::printf(
      "{\"timing\": {\"load_ns\": %lld, \"first_ns\": %lld, \"steady\": {\"runs\": %zu, "
      "\"min_ns\": %lld, \"p50_ns\": %lld, \"p90_ns\": %lld, \"mean_ns\": %.0f}}, "
      "\"memory\": {\"peak_rss_bytes\": %ld}, \"threads\": %zu}\n",
      static_cast<long long>(load_ns), static_cast<long long>(first_ns), samples.size(),
      static_cast<long long>(samples.front()), static_cast<long long>(percentile(samples, 0.5)),
      static_cast<long long>(percentile(samples, 0.9)), mean, peak_rss_bytes(), threads);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse_arguments(argc, argv);
  auto* pool = executorch::extension::threadpool::get_threadpool();
  if (pool != nullptr) pool->_unsafe_reset_threadpool(static_cast<std::uint32_t>(arguments.threads));

  std::vector<TensorPtr> tensors;
  std::vector<EValue> inputs;
  for (const auto& text : arguments.inputs)
    inputs.push_back(make_input(text, tensors));

  const auto load_start = Clock::now();
  const auto mode = arguments.map_file ? Module::LoadMode::Mmap : Module::LoadMode::File;
  std::vector<std::string> data_files;
  if (!arguments.data.empty()) data_files.push_back(arguments.data);
  Module module(arguments.model, data_files, mode);
  Error error = module.load();
  if (error != Error::Ok) fail(error_text("load", error));
  error = module.load_method(arguments.method);
  if (error != Error::Ok) fail(error_text("load_method", error));
  const std::int64_t load_ns = elapsed_ns(load_start);

  const auto first_start = Clock::now();
  auto outputs = module.execute(arguments.method, inputs);
  const std::int64_t first_ns = elapsed_ns(first_start);
  if (!outputs.ok()) fail(error_text("execute", outputs.error()));
  if (!arguments.output_folder.empty()) save_outputs(arguments.output_folder, *outputs);

  std::vector<std::int64_t> samples;
  samples.reserve(static_cast<std::size_t>(std::max(arguments.iterations, 1)));
  for (int i = 0; i < arguments.warmup + arguments.iterations; ++i) {
    const auto start = Clock::now();
    auto result = module.execute(arguments.method, inputs);
    const std::int64_t time_ns = elapsed_ns(start);
    if (!result.ok()) fail(error_text("execute", result.error()));
    if (i >= arguments.warmup) samples.push_back(time_ns);
  }
  if (samples.empty()) samples.push_back(first_ns);
  print_report(load_ns, first_ns, std::move(samples), pool ? pool->get_thread_count() : 1);
  return 0;
}
