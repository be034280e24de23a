// What `pterun inspect` found out about a program, as plain data. Sizes in bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pterun::report {

struct InspectValue {
  std::string kind;                 // "tensor", "int", "float", "bool", "string", "none", "list"
  std::string description;          // "float32[1, 3, 224, 224]", "int 3"
  std::string dtype;                // tensors
  std::vector<std::int64_t> shape;  // the upper bound when dynamic
  std::vector<int> dim_order;
  bool dynamic = false;
  bool constant = false;  // an output that is a constant of the program
  std::string value;      // numbers and text: what is baked into the program
};

struct InspectBuffer {
  std::uint64_t bytes = 0;
  std::size_t tensors = 0;  // planned there
};

struct InspectCompileSpec {
  std::string key;
  std::uint64_t bytes = 0;
  std::string text;  // the value where it is short printable text
};

struct InspectCount {
  std::string name;
  std::size_t count = 0;
};

struct InspectNamedConstant {  // that a payload refers to
  std::string key;
  std::string found;  // "program", the .ptd file, or "" when it is nowhere
};

struct InspectNode {   // of a delegate's graph; its number is its place in the list
  std::string kind;    // "Conv2d"
  std::string output;  // "fp32[1, 8, 8, 16]"
};

struct InspectInstruction {  // an operator or delegate call
  std::size_t chain = 0;
  std::size_t index = 0;  // in its chain
  std::string name;       // of the operator or the backend
  std::optional<std::size_t> delegate;
};

struct InspectDelegate {
  std::string backend;
  bool available = false;  // in this build
  std::uint64_t payload_bytes = 0;
  std::size_t calls = 0;  // instructions that call it
  std::vector<InspectCompileSpec> compile_specs;
  // Of payloads that this build can read:
  std::vector<InspectCount> nodes;              // by kind, sorted by name
  std::vector<InspectNode> graph;               // one by one, in order
  std::vector<InspectNamedConstant> constants;  // in the order they are looked up, up to the first that is missing
  std::string problem;                          // why it cannot be read; "" when it can
};

struct InspectOperator {
  std::string name;
  std::size_t uses = 0;
  bool available = false;
};

struct InspectExternal {  // a tensor that comes from a .ptd file
  std::string key;
  std::string description;
  std::string file;     // that has it; "" when none of the given ones does
  std::string problem;  // "", or what is wrong with it
};

struct InspectMethod {
  std::string name;
  std::vector<InspectValue> inputs;
  std::vector<InspectValue> outputs;
  std::vector<InspectBuffer> buffers;
  std::vector<InspectDelegate> delegates;
  std::vector<InspectInstruction> chain;   // in order, without moves, jumps and frees
  std::vector<InspectOperator> operators;  // sorted by name
  std::vector<InspectExternal> externals;  // sorted by key
  std::size_t values = 0;
  std::size_t chains = 0;
  std::size_t kernel_calls = 0;
  std::size_t delegate_calls = 0;
  std::size_t other_instructions = 0;  // moves, jumps, frees
  std::size_t constants = 0;           // tensors in this file
  std::uint64_t constant_bytes = 0;
  std::size_t mutable_buffers = 0;  // planned tensors with initial bytes
  std::uint64_t mutable_bytes = 0;
};

struct InspectBlob {
  std::string key;
  std::uint64_t bytes = 0;
};

struct InspectDataEntry {  // of a .ptd file
  std::string key;
  std::uint64_t bytes = 0;
  std::string description;  // "float32[4]", "" for a blob
};

struct InspectDataFile {
  std::string path;
  std::vector<InspectDataEntry> entries;
};

struct InspectSuite {  // test cases of a .bpte
  std::string method;
  std::vector<std::pair<std::size_t, std::size_t>> cases;  // inputs, expected outputs
};

struct OperatorSupport {
  std::string name;
  std::vector<std::string> dtypes;  // of the first tensor argument
};

struct InspectReport {
  std::string path;  // "" when only the build was asked about
  std::uint64_t file_bytes = 0;
  bool bundled = false;
  std::string verification;
  std::size_t threads = 0;  // that a run here would use; 0: not said
  std::vector<InspectMethod> methods;
  std::vector<InspectBlob> named_data;
  std::vector<InspectDataFile> data_files;
  std::vector<InspectSuite> suites;
  std::optional<std::vector<OperatorSupport>> operators;  // of this build, with --operators
};

}  // namespace pterun::report
