// Parts of the report, from the runtime's objects.
#include "pterun/session/report_parts.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/sha256.h"
#include "compare/element_reader.h"
#include "pterun/session/host.h"

namespace pterun::app {
namespace {

using runtime::IoSpec;

std::vector<std::int64_t> sizes_of(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

std::optional<report::TensorStats> stats_of(const Tensor& tensor) {
  if (is_complex(tensor.dtype())) return stats_of(view_as_real(tensor));
  if (tensor.numel() == 0) return std::nullopt;
  const compare::ElementReader reader(tensor);
  report::TensorStats stats;
  double sum = 0;
  std::int64_t finite = 0;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const double value = reader.at(i);
    stats.nan += std::isnan(value);
    stats.inf += std::isinf(value);
    if (!std::isfinite(value)) continue;
    stats.min = finite == 0 ? value : std::min(stats.min, value);
    stats.max = finite == 0 ? value : std::max(stats.max, value);
    sum += value;
    ++finite;
  }
  if (finite == 0) return stats;
  stats.mean = sum / static_cast<double>(finite);
  double squares = 0;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const double value = reader.at(i);
    if (std::isfinite(value)) squares += (value - stats.mean) * (value - stats.mean);
  }
  stats.stddev = std::sqrt(squares / static_cast<double>(finite));
  return stats;
}

std::string element_text(const Tensor& tensor, const compare::ElementReader& reader, std::int64_t index) {
  if (tensor.dtype() == DType::kBool) return reader.at(index) != 0 ? "true" : "false";
  if (tensor.dtype() == DType::kInt64) return fmt::format("{}", tensor.data<std::int64_t>()[index]);
  if (!is_floating(tensor.dtype())) return fmt::format("{}", static_cast<std::int64_t>(reader.at(index)));
  if (tensor.dtype() == DType::kFloat64) return fmt::format("{}", reader.at(index));
  return fmt::format("{}", static_cast<float>(reader.at(index)));
}

constexpr std::int64_t kHeadElements = 8;

std::string preview_of(const Tensor& tensor, config::PrintMode print) {
  if (is_complex(tensor.dtype())) return preview_of(view_as_real(tensor), print);
  if (print != config::PrintMode::kHead && print != config::PrintMode::kAll) return "";
  const compare::ElementReader reader(tensor);
  const std::int64_t shown =
      print == config::PrintMode::kAll ? tensor.numel() : std::min(tensor.numel(), kHeadElements);
  std::string text = "[";
  for (std::int64_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : ", ") + element_text(tensor, reader, i);
  if (shown < tensor.numel()) text += fmt::format(", … {} more", tensor.numel() - shown);
  return text + "]";
}

report::IoReport describe_io(const IoSpec& spec) {
  static constexpr std::string_view kKinds[] = {"none", "tensor", "int", "float", "bool", "string", "list"};
  report::IoReport io;
  io.kind = kKinds[static_cast<std::size_t>(spec.kind)];
  io.description = spec.describe();
  if (spec.kind != IoSpec::Kind::kTensor) return io;
  io.dtype = dtype_name(spec.dtype);
  io.shape = sizes_of(spec.sizes);
  return io;
}

}  // namespace

std::string sha256_of_tensor(const Tensor& tensor) {
  return sha256_hex({static_cast<const std::byte*>(tensor.raw_data()), tensor.nbytes()});
}

report::RunReport begin_report(report::Kind kind, const Invocation& invocation) {
  report::RunReport report;
  report.kind = kind;
  report.manifest.argv = invocation.argv;
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  report.manifest.started_at = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                                           utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
  return report;
}

void begin_events(OutputFiles& files, Invocation& invocation) {
  files.events().start(invocation.command, invocation.argv);
  invocation.output.events = {};
}

std::optional<report::Evidence> required_evidence(const config::OptionsPlan& plan) {
  if (*plan.require_evidence == config::EvidenceLevel::kNone) return std::nullopt;
  return static_cast<report::Evidence>(*plan.require_evidence);  // the same ranks
}

Result<std::vector<reference::StepInput>> copy_inputs(const StepInputs& inputs) {
  std::vector<reference::StepInput> copies;
  for (const ResolvedInput& input : inputs.inputs) {
    reference::StepInput& copy = copies.emplace_back();
    copy.is_tensor = input.value.is_tensor;
    copy.value = input.value.value;
    if (!copy.is_tensor) continue;
    PTERUN_ASSIGN(copy.tensor, HostTensor::row_major_copy(input.value.tensor.view()));
  }
  return copies;
}

report::OutputReport describe_tensor(std::string name, std::size_t index, const Tensor& tensor, config::PrintMode print,
                                     bool hash) {
  report::OutputReport output;
  output.index = index;
  output.name = std::move(name);
  output.dtype = dtype_name(tensor.dtype());
  output.shape = sizes_of(tensor.shape());
  if (print != config::PrintMode::kNone) output.stats = stats_of(tensor);
  output.preview = preview_of(tensor, print);
  if (hash) output.sha256 = sha256_of_tensor(tensor);
  return output;
}

report::OutputReport describe_output(std::size_t step, const runtime::Method& method, std::size_t index,
                                     const Value& value, const Tensor& tensor, config::PrintMode print, bool hash) {
  report::OutputReport output = describe_tensor(fmt::format("output_{}", index), index, tensor, print, hash);
  output.step = step;
  output.method = method.name();
  if (!value.is_tensor()) output.value = element_text(tensor, compare::ElementReader(tensor), 0);
  return output;
}

report::IoReport describe_input(const std::string& name, std::string source, const Tensor& tensor, bool hash) {
  report::IoReport io;
  io.kind = "tensor";
  io.dtype = dtype_name(tensor.dtype());
  io.shape = sizes_of(tensor.shape());
  io.description = name + " " + tensor.describe();
  io.source = std::move(source);
  if (hash) io.sha256 = sha256_of_tensor(tensor);
  return io;
}

report::LoadReport describe_load(const runtime::LoadedProgram& program) {
  report::LoadReport load;
  load.program_ns = program.times().program_ns;
  load.methods_ns = program.times().methods_ns;
  for (const auto& method : program.methods()) {
    for (const runtime::DelegateInfo& info : method->delegates()) {
      load.delegates.push_back({method->name(), info.index, info.backend, info.payload_bytes, info.init_ns, info.calls,
                                info.delegate->option_effects(), info.delegate->metrics()});
    }
  }
  return load;
}

report::MethodReport describe_method(const runtime::Method& method, const StepInputs& inputs, bool hash) {
  report::MethodReport report;
  report.name = method.name();
  report.load_ns = method.load_ns();
  for (std::size_t i = 0; i < method.inputs().size(); ++i) {
    report::IoReport io = describe_io(method.inputs()[i]);
    if (i < inputs.inputs.size()) {
      const ResolvedInput& input = inputs.inputs[i];
      io.source = input.source;
      if (input.value.is_tensor) {
        io.shape = sizes_of(input.value.tensor.view().shape());
        if (hash) io.sha256 = sha256_of_tensor(input.value.tensor.view());
      }
    }
    report.inputs.push_back(std::move(io));
  }
  for (const IoSpec& spec : method.outputs())
    report.outputs.push_back(describe_io(spec));
  report.planned_bytes.assign(method.planned_bytes().begin(), method.planned_bytes().end());
  report.delegates = method.delegates().size();
  for (const runtime::DelegateInfo& info : method.delegates())
    report.delegate_calls += info.calls;
  report.kernel_calls = method.kernel_calls();
  return report;
}

void note_memory(report::RunReport& report, const std::string& phase, const runtime::LoadedProgram* program) {
  const auto note = [&](const char* what, std::int64_t bytes) {
    report.memory[fmt::format("{}_{}_bytes", what, phase)] = bytes;
  };
  note("rss", resident_bytes());
  note("peak_rss", peak_resident_bytes());
  if (program == nullptr) return;
  std::int64_t planned = 0, packed = 0, mapped = 0, workspaces = 0;
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> workspace_bytes;
  for (const auto& method : program->methods()) {
    for (const std::uint64_t bytes : method->planned_bytes())
      planned += static_cast<std::int64_t>(bytes);
    for (const runtime::DelegateInfo& info : method->delegates()) {
      backend::Metrics metrics = info.delegate->metrics();
      packed += metrics["packed_here_bytes"];
      mapped += metrics["cache_file_bytes"];
      workspace_bytes[{info.backend, metrics["workspace_id"]}] = metrics["workspace_bytes"];
    }
  }
  for (const auto& [workspace, bytes] : workspace_bytes)
    workspaces += bytes;
  note("planned", planned);
  note("workspace", workspaces);
  note("packed", packed);
  note("mapped", mapped);
  report.memory["planned_bytes"] = planned;
}

void warn_without_delegate(const runtime::LoadedProgram& program, LogSink& log) {
  for (const auto& method : program.methods()) {
    if (!method->delegates().empty() || method->kernel_calls() == 0) continue;
    log.warn({"no_delegate",
              fmt::format("method '{}' runs without any delegate: {} operator calls on pterun's own kernels",
                          method->name(), method->kernel_calls()),
              "export it with the XNNPACK partitioner for speed"});
  }
}

Result<compare::Tolerance> tolerance_for(const config::StepPlan& step, std::size_t output, DType dtype) {
  compare::Tolerance tolerance = compare::default_tolerance(dtype);
  for (const config::ToleranceRule& rule : step.tolerance) {
    const bool own = rule.output == std::to_string(output);
    if (!own && !(rule.output.empty() && (is_floating(dtype) || is_complex(dtype)))) continue;
    if (rule.atol) tolerance.atol = *rule.atol;
    if (rule.rtol) tolerance.rtol = *rule.rtol;
    if (rule.bounds.empty()) continue;
    auto bounds = compare::parse_bounds(rule.bounds);
    if (!bounds) return fail(std::move(bounds).error().at("source", rule.origin.describe()));
    tolerance.bounds = *std::move(bounds);
  }
  return tolerance;
}

void hash_files(report::Manifest& manifest) {
  for (report::FileIdentity& file : manifest.files) {
    auto digest = sha256_of_file(file.path);
    if (!digest) continue;
    file.sha256 = *std::move(digest);
    std::error_code ignored;
    file.bytes = std::filesystem::file_size(file.path, ignored);
  }
}

std::string reference_file(const std::string& spec) {
  if (spec.starts_with("pte:")) return spec.substr(4);
  if (spec.starts_with("eager:")) return spec.substr(6);
  if (spec == "bundled" || spec == "executorch" || spec == "interpreter") return "";
  return spec;
}

}  // namespace pterun::app
