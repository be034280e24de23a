// `pterun inspect` as text.
#include <set>
#include <string>

#include <fmt/format.h>

#include "report/formats/inspect.h"
#include "report/formats/text.h"

namespace pterun::report {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  return size_text(static_cast<double>(bytes));
}

std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// A heading and its table, nothing when there are no rows.
void add_section(std::string& text, const std::string& heading, const TextTable& table) {
  if (table.empty()) return;
  text += "  " + heading + "\n" + table.to_string();
}

void add_values(std::string& text, const char* heading, const std::vector<InspectValue>& values) {
  TextTable table;
  for (std::size_t i = 0; i < values.size(); ++i) {
    table.add({fmt::format("  {}", i), values[i].description + (values[i].constant ? " (constant)" : "")});
  }
  add_section(text, heading, table);
}

void add_buffers(std::string& text, const std::vector<InspectBuffer>& buffers) {
  TextTable table;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    table.add({fmt::format("  {}", i), bytes_text(buffers[i].bytes), counted(buffers[i].tensors, "tensor")});
  }
  add_section(text, "memory plan", table);
}

std::string specs_text(const InspectDelegate& delegate, int verbosity) {
  if (verbosity < 1) return counted(delegate.compile_specs.size(), "compile spec");
  std::string text;
  for (const InspectCompileSpec& spec : delegate.compile_specs) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", spec.key,
                        spec.text.empty() ? bytes_text(spec.bytes) : spec.text);
  }
  return text;
}

// The nodes of a payload and what of its constants is missing, on lines of their own.
void add_payload(std::string& text, std::size_t index, const InspectDelegate& delegate) {
  std::string nodes;
  for (const InspectCount& node : delegate.nodes) {
    nodes += fmt::format("{}{} {}", nodes.empty() ? "" : ", ", node.count, node.name);
  }
  if (!nodes.empty()) text += fmt::format("    {}  nodes: {}\n", index, nodes);
  if (!delegate.problem.empty()) text += fmt::format("    {}  {}\n", index, delegate.problem);
}

void add_delegates(std::string& text, const std::vector<InspectDelegate>& delegates, int verbosity) {
  TextTable table;
  std::string payloads;
  for (std::size_t i = 0; i < delegates.size(); ++i) {
    const InspectDelegate& delegate = delegates[i];
    std::vector<std::string> row = {fmt::format("  {}", i), delegate.backend, bytes_text(delegate.payload_bytes),
                                    counted(delegate.calls, "call")};
    if (!delegate.constants.empty()) row.push_back(counted(delegate.constants.size(), "named constant"));
    if (!delegate.available) row.push_back("not in this build");
    if (!delegate.compile_specs.empty()) row.push_back(specs_text(delegate, verbosity));
    table.add(std::move(row));
    add_payload(payloads, i, delegate);
  }
  add_section(text, "delegates", table);
  text += payloads;
}

// What `run --node` takes, as it is written there.
void add_chain(std::string& text, const InspectMethod& method) {
  TextTable table;
  for (const InspectInstruction& instruction : method.chain) {
    const std::string number =
        (method.chains > 1 ? fmt::format("chain {} ", instruction.chain) : "") + std::to_string(instruction.index);
    if (!instruction.delegate) {
      table.add({"  " + number, instruction.name});
      continue;
    }
    table.add({"  " + number, fmt::format("delegate {} ({})", *instruction.delegate, instruction.name)});
    const std::vector<InspectNode>& graph = method.delegates[*instruction.delegate].graph;
    for (std::size_t i = 0; i < graph.size(); ++i)
      table.add({fmt::format("  {}:{}", number, i), graph[i].kind, graph[i].output});
  }
  add_section(text, "instructions and nodes (run --node)", table);
}

void add_operators(std::string& text, const std::vector<InspectOperator>& operators) {
  TextTable table;
  for (const InspectOperator& op : operators) {
    table.add({"  " + op.name, counted(op.uses, "use"), op.available ? "" : "not in this build"});
  }
  add_section(text, "operators", table);
}

void add_externals(std::string& text, const std::vector<InspectExternal>& externals) {
  TextTable table;
  for (const InspectExternal& external : externals) {
    table.add({"  " + external.key, external.description, external.file.empty() ? "not found" : external.file,
               external.problem});
  }
  add_section(text, "external data (--data)", table);
}

std::string missing_text(const InspectMethod& method) {
  std::set<std::string> backends;
  for (const InspectDelegate& delegate : method.delegates) {
    if (!delegate.available) backends.insert(delegate.backend);
  }
  std::string list;
  for (const InspectDelegate& delegate : method.delegates) {
    for (const InspectNamedConstant& constant : delegate.constants) {
      if (constant.found.empty()) list += fmt::format("{}constant {}", list.empty() ? "" : ", ", constant.key);
    }
  }
  for (const std::string& backend : backends)
    list += (list.empty() ? "" : ", ") + backend;
  for (const InspectOperator& op : method.operators) {
    if (!op.available) list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", op.name, counted(op.uses, "use"));
  }
  for (const InspectExternal& external : method.externals) {
    if (external.file.empty() || !external.problem.empty()) list += (list.empty() ? "" : ", ") + external.key;
  }
  return list.empty() ? "nothing" : list;
}

void add_method(std::string& text, const InspectMethod& method, int verbosity) {
  text += fmt::format("\nmethod {}: {}, {}, {} in {}\n", method.name, counted(method.values, "value"),
                      counted(method.kernel_calls, "operator call"), counted(method.delegate_calls, "delegate call"),
                      counted(method.chains, "chain"));
  add_values(text, "inputs", method.inputs);
  add_values(text, "outputs", method.outputs);
  add_buffers(text, method.buffers);
  add_delegates(text, method.delegates, verbosity);
  if (verbosity > 0) add_chain(text, method);
  add_operators(text, method.operators);
  add_externals(text, method.externals);
  if (method.constants != 0) {
    text +=
        fmt::format("  constants: {}, {}\n", counted(method.constants, "tensor"), bytes_text(method.constant_bytes));
  }
  if (method.mutable_buffers != 0) {
    text += fmt::format("  mutable buffers: {}, {}\n", counted(method.mutable_buffers, "tensor"),
                        bytes_text(method.mutable_bytes));
  }
  text += "  missing here: " + missing_text(method) + "\n";
}

void add_named_data(std::string& text, const std::vector<InspectBlob>& blobs, int verbosity) {
  if (blobs.empty()) return;
  std::uint64_t total = 0;
  for (const InspectBlob& blob : blobs)
    total += blob.bytes;
  text += fmt::format("\nnamed data: {}, {}{}\n", counted(blobs.size(), "blob"), bytes_text(total),
                      verbosity < 1 ? " (-v lists them)" : "");
  if (verbosity < 1) return;
  TextTable table;
  for (const InspectBlob& blob : blobs)
    table.add({blob.key, bytes_text(blob.bytes)});
  text += table.to_string();
}

void add_data_files(std::string& text, const std::vector<InspectDataFile>& files) {
  for (const InspectDataFile& file : files) {
    text += fmt::format("\ndata file {}: {}\n", file.path, counted(file.entries.size(), "key"));
    TextTable table;
    for (const InspectDataEntry& entry : file.entries) {
      table.add({entry.key, entry.description.empty() ? "blob" : entry.description, bytes_text(entry.bytes)});
    }
    text += table.to_string();
  }
}

void add_suites(std::string& text, const std::vector<InspectSuite>& suites) {
  for (const InspectSuite& suite : suites) {
    text += fmt::format("\ntest cases for {}: {}\n", suite.method, suite.cases.size());
    TextTable table;
    for (std::size_t i = 0; i < suite.cases.size(); ++i) {
      table.add({std::to_string(i), counted(suite.cases[i].first, "input"),
                 counted(suite.cases[i].second, "expected output")});
    }
    text += table.to_string();
  }
}

}  // namespace

std::string inspect_text(const InspectReport& report, int verbosity) {
  std::string text;
  if (verbosity < 0 && !report.path.empty()) {
    for (const InspectMethod& method : report.methods)
      text += fmt::format("{}: method {} misses {}\n", report.path, method.name, missing_text(method));
    return text;
  }
  if (!report.path.empty()) {
    text += fmt::format("{}: {}, {}, verification {}\n", report.path, report.bundled ? "bundled program" : "program",
                        bytes_text(report.file_bytes), report.verification);
    if (report.threads != 0) text += fmt::format("a run here: {}\n", counted(report.threads, "thread"));
    for (const InspectMethod& method : report.methods)
      add_method(text, method, verbosity);
    add_named_data(text, report.named_data, verbosity);
    add_data_files(text, report.data_files);
    add_suites(text, report.suites);
  }
  if (report.operators) {
    text += fmt::format("{}operators of this build: {}\n", text.empty() ? "" : "\n", report.operators->size());
    TextTable table;
    for (const OperatorSupport& support : *report.operators) {
      std::string dtypes;
      for (const std::string& dtype : support.dtypes)
        dtypes += (dtypes.empty() ? "" : " ") + dtype;
      table.add({support.name, dtypes});
    }
    text += table.to_string();
  }
  return text;
}

}  // namespace pterun::report
