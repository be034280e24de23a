// One loader for each kind of file.
#include "pterun/session/tensor_set.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "program/bundled_program.h"
#include "pterun/session/report_parts.h"
#include "pterun/session/saved_report.h"
#include "reference/bundled_values.h"
#include "tensor/io/tensor_file.h"

namespace pterun::app {
namespace {

SetTensor set_tensor(std::string name, HostTensor values) {
  SetTensor tensor;
  tensor.name = std::move(name);
  tensor.dtype = dtype_name(values.view().dtype());
  tensor.shape.assign(values.view().shape().begin(), values.view().shape().end());
  tensor.values = std::move(values);
  return tensor;
}

Result<std::vector<SetTensor>> from_tensor_file(const std::string& path) {
  std::vector<SetTensor> tensors;
  if (path.ends_with(".npy")) {
    PTERUN_ASSIGN(io::SelectedTensor one, io::read_one_tensor(path));
    tensors.push_back(set_tensor("0", std::move(one.tensor)));
    return tensors;
  }
  PTERUN_ASSIGN(std::vector<io::NamedTensor> named, io::read_tensor_file(path));
  for (io::NamedTensor& item : named)
    tensors.push_back(set_tensor(std::move(item.name), std::move(item.tensor)));
  return tensors;
}

Result<std::vector<SetTensor>> from_bundle(const TensorSetRequest& request) {
  PTERUN_ASSIGN(const auto bundle, program::BundledProgram::open(request.path));
  const std::string name =
      !request.method.empty() || bundle->suites().size() != 1 ? request.method : bundle->suites().front().method;
  const program::BundledSuite* suite = bundle->find_suite(name.empty() ? "forward" : name);
  if (suite == nullptr || request.test_case >= suite->cases.size()) {
    return fail(make_error(
        ErrorCode::kInput,
        fmt::format("{} holds {} test cases for method '{}', case {} was asked for", in_quotes(request.path),
                    suite == nullptr ? 0 : suite->cases.size(), name.empty() ? "forward" : name, request.test_case)));
  }
  std::vector<SetTensor> tensors;
  for (const program::BundledValue& value : suite->cases[request.test_case].expected_outputs) {
    PTERUN_ASSIGN(HostTensor copy, reference::tensor_of(value));
    tensors.push_back(set_tensor(fmt::format("output_{}", tensors.size()), std::move(copy)));
  }
  return tensors;
}

// The file that --save-outputs of the report's command wrote, as the resolved config has it.
std::string saved_outputs_path(const report::RunReport& report) {
  const auto config = nlohmann::json::parse(report.manifest.resolved_config_json, nullptr, false);
  const nlohmann::json::json_pointer pointer("/output/save_outputs");
  if (config.is_discarded() || !config.contains(pointer) || !config[pointer].is_string()) return "";
  const auto path = config[pointer].get<std::string>();
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) ? path : "";
}

Result<void> add_values(const std::string& path, const std::string& report_path, SetTensor& tensor) {
  HostTensor values;
  if (path.ends_with('/')) {
    PTERUN_ASSIGN(io::SelectedTensor one, io::read_one_tensor(path + tensor.name + ".npy"));
    values = std::move(one.tensor);
  } else {
    PTERUN_ASSIGN(io::SelectedTensor one, io::read_one_tensor(path + ":" + tensor.name));
    values = std::move(one.tensor);
  }
  if (!tensor.sha256.empty() && sha256_of_tensor(values.view()) != tensor.sha256) {
    return fail(
        make_error(ErrorCode::kInput, fmt::format("{} of {} is not what {} reports: its SHA-256 differs",
                                                  in_quotes(tensor.name), in_quotes(path), in_quotes(report_path)))
            .with_hint("the file was written by a later run; compare it itself, or make the report again")
            .at("file", path));
  }
  tensor.values = std::move(values);
  return {};
}

Result<std::vector<SetTensor>> from_report(const std::string& path) {
  PTERUN_ASSIGN(const report::RunReport report, load_report(path, "compare"));
  const std::string saved = saved_outputs_path(report);
  const bool steps = std::ranges::any_of(report.outputs, [](const auto& output) { return output.step > 0; });
  std::vector<SetTensor> tensors;
  for (const report::OutputReport& output : report.outputs) {
    SetTensor& tensor = tensors.emplace_back();
    tensor.name =
        steps ? fmt::format("step{}_output_{}", output.step, output.index) : fmt::format("output_{}", output.index);
    tensor.dtype = output.dtype;
    tensor.shape = output.shape;
    tensor.sha256 = output.sha256;
    if (!saved.empty()) PTERUN_TRY(add_values(saved, path, tensor));
  }
  return tensors;
}

Result<std::vector<SetTensor>> load(const TensorSetRequest& request) {
  const std::string& path = request.path;
  if (path.ends_with(".npz") || path.ends_with(".safetensors") || path.ends_with(".npy")) return from_tensor_file(path);
  if (path.ends_with(".bpte")) return from_bundle(request);
  if (path.ends_with(".json") || path == "-") return from_report(path);
  return fail(make_error(ErrorCode::kInput,
                         "expected a .npz, .safetensors, .npy, .bpte or .json file, found " + in_quotes(path))
                  .at("file", path));
}

}  // namespace

Result<TensorSet> load_tensor_set(const TensorSetRequest& request) {
  auto tensors = load(request);
  if (tensors && tensors->empty()) {
    tensors =
        fail(make_error(ErrorCode::kInput, in_quotes(request.path) + " holds no tensors").at("file", request.path));
  }
  if (tensors) return TensorSet{request.path, *std::move(tensors)};
  Error error = std::move(tensors).error();
  error.code = request.code;
  error.blame = Blame::kInput;
  return fail(std::move(error).at("file", request.path));
}

}  // namespace pterun::app
