// The "inspect" part of the JSON report.
#include <nlohmann/json.hpp>

#include "report/formats/inspect.h"

namespace pterun::report {
namespace {

using nlohmann::json;

template <typename T, typename Make>
json list(const std::vector<T>& items, Make make) {
  json array = json::array();
  for (const T& item : items)
    array.push_back(make(item));
  return array;
}

json value_json(const InspectValue& value) {
  json item = {{"kind", value.kind}, {"description", value.description}};
  if (value.kind == "tensor") {
    item["dtype"] = value.dtype;
    item["shape"] = value.shape;
    item["dim_order"] = value.dim_order;
    item["dynamic"] = value.dynamic;
    item["constant"] = value.constant;
  } else if (!value.value.empty()) {
    item["value"] = value.value;
  }
  return item;
}

json delegate_json(const InspectDelegate& delegate) {
  json specs = list(delegate.compile_specs, [](const InspectCompileSpec& spec) {
    json item = {{"key", spec.key}, {"bytes", spec.bytes}};
    if (!spec.text.empty()) item["text"] = spec.text;
    return item;
  });
  json constants = list(delegate.constants, [](const InspectNamedConstant& constant) {
    return json{{"key", constant.key}, {"found", constant.found.empty() ? json(nullptr) : json(constant.found)}};
  });
  json nodes = json::object();
  for (const InspectCount& node : delegate.nodes)
    nodes[node.name] = node.count;
  return {{"backend", delegate.backend},
          {"available", delegate.available},
          {"payload_bytes", delegate.payload_bytes},
          {"calls", delegate.calls},
          {"compile_specs", std::move(specs)},
          {"nodes", std::move(nodes)},
          {"graph", list(delegate.graph,
                         [](const InspectNode& node) { return json{{"kind", node.kind}, {"output", node.output}}; })},
          {"constants", std::move(constants)},
          {"problem", delegate.problem.empty() ? json(nullptr) : json(delegate.problem)}};
}

json instruction_json(const InspectInstruction& instruction) {
  return {{"chain", instruction.chain},
          {"index", instruction.index},
          {"name", instruction.name},
          {"delegate", instruction.delegate ? json(*instruction.delegate) : json(nullptr)}};
}

json operator_json(const InspectOperator& op) {
  return {{"name", op.name}, {"uses", op.uses}, {"available", op.available}};
}

json external_json(const InspectExternal& external) {
  return {{"key", external.key},
          {"description", external.description},
          {"file", external.file.empty() ? json(nullptr) : json(external.file)},
          {"problem", external.problem.empty() ? json(nullptr) : json(external.problem)}};
}

json missing_json(const InspectMethod& method) {
  json operators = json::array();
  for (const InspectOperator& op : method.operators) {
    if (!op.available) operators.push_back({{"name", op.name}, {"uses", op.uses}});
  }
  json backends = json::array();
  for (const InspectDelegate& delegate : method.delegates) {
    if (delegate.available) continue;
    const auto known = std::find_if(backends.begin(), backends.end(),
                                    [&](const json& item) { return item["name"] == delegate.backend; });
    if (known == backends.end()) {
      backends.push_back({{"name", delegate.backend}, {"uses", 1}});
    } else {
      (*known)["uses"] = (*known)["uses"].get<std::size_t>() + 1;
    }
  }
  return {{"operators", std::move(operators)}, {"backends", std::move(backends)}};
}

json method_json(const InspectMethod& method) {
  return {{"name", method.name},
          {"inputs", list(method.inputs, value_json)},
          {"outputs", list(method.outputs, value_json)},
          {"buffers", list(method.buffers,
                           [](const InspectBuffer& buffer) {
                             return json{{"bytes", buffer.bytes}, {"tensors", buffer.tensors}};
                           })},
          {"delegates", list(method.delegates, delegate_json)},
          {"operators", list(method.operators, operator_json)},
          {"missing", missing_json(method)},
          {"externals", list(method.externals, external_json)},
          {"values", method.values},
          {"instructions",
           {{"chains", method.chains},
            {"kernel_calls", method.kernel_calls},
            {"delegate_calls", method.delegate_calls},
            {"other", method.other_instructions},
            {"list", list(method.chain, instruction_json)}}},
          {"constants", {{"tensors", method.constants}, {"bytes", method.constant_bytes}}},
          {"mutable_buffers", {{"tensors", method.mutable_buffers}, {"bytes", method.mutable_bytes}}}};
}

json data_file_json(const InspectDataFile& file) {
  json entries = list(file.entries, [](const InspectDataEntry& entry) {
    return json{{"key", entry.key},
                {"bytes", entry.bytes},
                {"description", entry.description.empty() ? json(nullptr) : json(entry.description)}};
  });
  return {{"path", file.path}, {"entries", std::move(entries)}};
}

json suite_json(const InspectSuite& suite) {
  json cases = list(suite.cases, [](const auto& counts) {
    return json{{"inputs", counts.first}, {"expected_outputs", counts.second}};
  });
  return {{"method", suite.method}, {"cases", std::move(cases)}};
}

}  // namespace

json inspect_json(const InspectReport& report) {
  json document = json::object();
  if (!report.path.empty()) {
    document = {
        {"path", report.path},
        {"bytes", report.file_bytes},
        {"format", report.bundled ? "bpte" : "pte"},
        {"verification", report.verification},
        {"methods", list(report.methods, method_json)},
        {"named_data", list(report.named_data,
                            [](const InspectBlob& blob) { return json{{"key", blob.key}, {"bytes", blob.bytes}}; })},
        {"data_files", list(report.data_files, data_file_json)},
        {"bundled_cases", list(report.suites, suite_json)}};
  }
  if (report.operators) {
    document["operators"] = list(*report.operators, [](const OperatorSupport& support) {
      return json{{"name", support.name}, {"dtypes", support.dtypes}};
    });
  }
  return document;
}

}  // namespace pterun::report
