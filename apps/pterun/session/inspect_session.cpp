// From verified structs to the plain parts of the report.
#include "pterun/session/inspect_session.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "backends/xnnpack_payload/payload_reader.h"
#include "base/utf8.h"
#include "program/bundled_program.h"
#include "program/external_data.h"
#include "program/program.h"
#include "pterun/session/inspect_chain.h"
#include "runtime/method_state.h"

namespace pterun::app {
namespace {

using DataFiles = std::vector<std::shared_ptr<const program::ExternalDataFile>>;

constexpr std::string_view kXnnpackBackend = "XnnpackBackend";

// Where a program's parts and needs are looked up.
struct Sources {
  const program::Program& program;
  const DataFiles& files;
  const backend::BackendRegistry& backends;
  const operators::OperatorRegistry& operators;
};

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

report::InspectValue describe_value(const program::ValueSpec& spec) {
  static constexpr std::string_view kKinds[] = {"none", "tensor", "int", "float", "bool", "string", "list"};
  const runtime::IoSpec io = runtime::io_spec(spec);
  report::InspectValue value;
  value.kind = kKinds[static_cast<std::size_t>(io.kind)];
  value.description = io.describe();
  if (io.kind != runtime::IoSpec::Kind::kTensor) {
    const std::size_t space = value.description.find(' ');
    if (space != std::string::npos && io.kind != runtime::IoSpec::Kind::kOther) {
      value.value = value.description.substr(space + 1);
    }
    return value;
  }
  value.dtype = dtype_name(io.dtype);
  value.shape.assign(io.sizes.begin(), io.sizes.end());
  for (std::size_t i = 0; i < io.dim_order.rank(); ++i)
    value.dim_order.push_back(io.dim_order[i]);
  value.dynamic = io.dynamic;
  value.constant = io.constant;
  return value;
}

std::string find_file(const DataFiles& files, std::string_view key, Bytes& bytes) {
  for (const auto& file : files) {
    const program::ExternalEntry* entry = file->find(key);
    if (entry == nullptr) continue;
    bytes = entry->data;
    return file->path();
  }
  return "";
}

// What an XNNPACK payload is made of, by the same reader that runs it.
void describe_payload(const Sources& sources, Bytes payload, report::InspectDelegate& delegate) {
  const auto look_up = [&](std::string_view key) -> Result<Bytes> {
    report::InspectNamedConstant constant{printable(key), ""};
    Bytes bytes;
    constant.found = find_file(sources.files, key, bytes);  // a data file wins over the program
    if (constant.found.empty()) {
      if (const auto named = sources.program.find_named_data(key)) {
        bytes = *named;
        constant.found = "program";
      }
    }
    delegate.constants.push_back(constant);
    if (constant.found.empty()) {
      return fail(program_error(ErrorCode::kNotFound, "named constant " + in_quotes(key) +
                                                          " is neither in the program "
                                                          "nor in a data file"));
    }
    return bytes;
  };
  const auto graph = xnnpack_payload::read_payload(payload, look_up);
  if (!graph) {
    delegate.problem = graph.error().message;
    return;
  }
  std::map<std::string, std::size_t> nodes;
  for (const xnnpack_payload::Node& node : graph->nodes)
    ++nodes[std::string(xnnpack_payload::node_kind_name(node.kind))];
  for (const auto& [name, count] : nodes)
    delegate.nodes.push_back({name, count});
  delegate.graph = list_nodes(*graph);
}

report::InspectDelegate describe_delegate(const program::DelegateSpec& spec, const Sources& sources) {
  constexpr std::size_t kMaxText = 64;
  report::InspectDelegate delegate;
  delegate.backend = spec.id;
  const backend::Backend* backend = sources.backends.find(spec.id);
  delegate.available = backend != nullptr && backend->is_available();
  delegate.payload_bytes = spec.payload.size();
  for (const program::CompileSpecEntry& entry : spec.compile_specs) {
    report::InspectCompileSpec compile_spec{printable(entry.key), entry.value.size(), ""};
    const std::string_view text(reinterpret_cast<const char*>(entry.value.data()), entry.value.size());
    if (text.size() <= kMaxText && is_printable(text)) compile_spec.text = text;
    delegate.compile_specs.push_back(std::move(compile_spec));
  }
  if (spec.id == kXnnpackBackend) describe_payload(sources, spec.payload, delegate);
  return delegate;
}

// Tensors by where their data is.
void count_tensors(const program::MethodPlan& plan, report::InspectMethod& method) {
  for (const program::ValueSpec& value : plan.values) {
    const auto* tensor = std::get_if<program::TensorSpec>(&value);
    if (tensor == nullptr) continue;
    if (tensor->planned) ++method.buffers[tensor->planned->buffer].tensors;
    if (tensor->external) continue;
    if (tensor->is_constant()) {
      ++method.constants;
      method.constant_bytes += tensor->nbytes;
    } else if (tensor->has_data) {
      ++method.mutable_buffers;
      method.mutable_bytes += tensor->nbytes;
    }
  }
}

void count_instructions(const program::MethodPlan& plan, report::InspectMethod& method) {
  method.chains = plan.chains.size();
  std::map<std::string_view, std::size_t> uses;
  for (const auto& chain : plan.chains) {
    for (const program::Instruction& instruction : chain) {
      std::visit(Overloaded{
                     [&](const program::KernelCall& call) {
                       ++method.kernel_calls;
                       ++uses[plan.operators[call.op]];
                     },
                     [&](const program::DelegateCall& call) {
                       ++method.delegate_calls;
                       ++method.delegates[call.delegate].calls;
                     },
                     [&](const auto&) { ++method.other_instructions; },
                 },
                 instruction);
    }
  }
  for (const auto& [name, count] : uses)
    method.operators.push_back({std::string(name), count, false});
}

std::string describe_tensor(DType dtype, const Shape& sizes, const DimOrder& order) {
  std::string text = std::string(dtype_name(dtype)) + sizes.to_string();
  if (!order.is_contiguous()) text += " in dim order " + order.to_string();
  return text;
}

report::InspectExternal describe_external(const program::TensorSpec& tensor, const DataFiles& files) {
  report::InspectExternal external;
  external.key = printable(tensor.name);
  external.description = describe_tensor(tensor.dtype, tensor.sizes, tensor.dim_order);
  for (const auto& file : files) {
    const program::ExternalEntry* entry = file->find(tensor.name);
    if (entry == nullptr) continue;
    if (!external.file.empty()) {
      external.problem = "also in " + file->path();
      continue;
    }
    external.file = file->path();
    const auto& layout = entry->layout;
    if (!layout) {
      external.problem = "a blob without a layout there";
    } else if (layout->dtype != tensor.dtype || layout->sizes != tensor.sizes ||
               layout->dim_order != tensor.dim_order) {
      external.problem = describe_tensor(layout->dtype, layout->sizes, layout->dim_order) + " there";
    }
  }
  return external;
}

void add_externals(const program::MethodPlan& plan, const DataFiles& files, report::InspectMethod& method) {
  for (const program::ValueSpec& value : plan.values) {
    const auto* tensor = std::get_if<program::TensorSpec>(&value);
    if (tensor != nullptr && tensor->external) method.externals.push_back(describe_external(*tensor, files));
  }
  const auto by_key = [](const auto& a, const auto& b) { return a.key < b.key; };
  std::sort(method.externals.begin(), method.externals.end(), by_key);
}

report::InspectMethod describe_method(const program::MethodPlan& plan, const Sources& sources) {
  report::InspectMethod method;
  method.name = plan.name;
  method.values = plan.values.size();
  for (const std::uint32_t input : plan.inputs)
    method.inputs.push_back(describe_value(plan.values[input]));
  for (const std::uint32_t output : plan.outputs)
    method.outputs.push_back(describe_value(plan.values[output]));
  for (const std::uint64_t bytes : plan.buffer_bytes)
    method.buffers.push_back({bytes, 0});
  for (const program::DelegateSpec& delegate : plan.delegates) {
    method.delegates.push_back(describe_delegate(delegate, sources));
  }
  count_tensors(plan, method);
  count_instructions(plan, method);
  method.chain = list_instructions(plan);
  for (report::InspectOperator& op : method.operators)
    op.available = sources.operators.find(op.name) != nullptr;
  add_externals(plan, sources.files, method);
  return method;
}

report::InspectDataFile describe_data_file(const program::ExternalDataFile& file) {
  report::InspectDataFile description{file.path(), {}};
  for (const program::ExternalEntry& entry : file.entries()) {
    std::string layout;
    if (entry.layout) layout = describe_tensor(entry.layout->dtype, entry.layout->sizes, entry.layout->dim_order);
    description.entries.push_back({std::string(entry.key), entry.data.size(), std::move(layout)});
  }
  return description;
}

// The plan's methods, or all. Errors: kUsage.
Result<std::vector<const program::MethodPlan*>> chosen_methods(const config::Plan& plan,
                                                               const program::Program& program) {
  std::vector<const program::MethodPlan*> chosen;
  for (const config::StepPlan& step : plan.steps) {
    if (step.method->empty()) continue;
    const program::MethodPlan* method = program.find_method(*step.method);
    if (method != nullptr) {
      chosen.push_back(method);
      continue;
    }
    std::string names;
    for (const program::MethodPlan& known : program.methods())
      names += (names.empty() ? "" : ", ") + known.name;
    return fail(make_error(ErrorCode::kUsage, fmt::format("--method: there is no method {} in {}; there are {}",
                                                          in_quotes(*step.method), program.path(), names))
                    .at("file", program.path()));
  }
  if (chosen.empty()) {
    for (const program::MethodPlan& method : program.methods())
      chosen.push_back(&method);
  }
  return chosen;
}

}  // namespace

Result<report::InspectReport> inspect_program(const config::Plan& plan, const backend::BackendRegistry& backends,
                                              const operators::OperatorRegistry& operators) {
  const auto verification =
      *plan.verify == config::Verify::kFull ? program::Verification::kFull : program::Verification::kMinimal;
  PTERUN_ASSIGN(const auto program, program::Program::open(*plan.models.at(0), verification));
  DataFiles files;
  for (const config::Setting<std::string>& path : plan.data_files) {
    PTERUN_ASSIGN(auto file, program::ExternalDataFile::open(*path));
    files.push_back(std::move(file));
  }
  report::InspectReport report;
  report.path = program->path();
  report.file_bytes = program->file_bytes();
  report.bundled = program->is_bundled();
  report.verification = verification == program::Verification::kFull ? "full" : "minimal";
  PTERUN_ASSIGN(const auto methods, chosen_methods(plan, *program));
  const Sources sources{*program, files, backends, operators};
  for (const program::MethodPlan* method : methods) {
    report.methods.push_back(describe_method(*method, sources));
  }
  for (const program::NamedBlob& blob : program->named_data()) {
    report.named_data.push_back({std::string(blob.key), blob.data.size()});
  }
  for (const auto& file : files)
    report.data_files.push_back(describe_data_file(*file));
  if (!report.bundled) return report;
  PTERUN_ASSIGN(const auto bundle, program::BundledProgram::open(program->path()));
  for (const program::BundledSuite& suite : bundle->suites()) {
    report::InspectSuite description{suite.method, {}};
    for (const program::BundledCase& test : suite.cases) {
      description.cases.emplace_back(test.inputs.size(), test.expected_outputs.size());
    }
    report.suites.push_back(std::move(description));
  }
  return report;
}

std::vector<report::OperatorSupport> list_operators(const operators::OperatorRegistry& operators) {
  constexpr int kDTypeNumbers = 30;
  std::vector<report::OperatorSupport> list;
  for (const operators::OperatorRow* row : operators.rows()) {
    report::OperatorSupport support{std::string(row->name), {}};
    for (int number = 0; number < kDTypeNumbers; ++number) {
      const auto dtype = dtype_from_number(number);
      if (dtype && row->dtypes.contains(*dtype)) support.dtypes.emplace_back(dtype_name(*dtype));
    }
    list.push_back(std::move(support));
  }
  return list;
}

}  // namespace pterun::app
