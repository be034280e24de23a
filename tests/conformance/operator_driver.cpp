// Runs operators for random_operators.py: a call a line on stdin, its results on stdout.
//
//   in   {"op": "aten::add.out", "args": [A, …]}\n, then the bytes of the input tensors in order
//   A    {"t": "none"}, {"t": "int"|"bool"|"double"|"string", "v": …}, {"t": "ints"|"doubles"|"bools", "v": [...]},
//        {"t": "tensors"|"optional_tensors", "v": [A, …]},
//        {"t": "tensor", "dtype": number, "shape": [...], "order": [...], and for what the call writes "role": "out"
//        (no bytes follow), "dynamic" (the same, its shape is a bound) or "inout"}; bytes are row-major
//   out  {"error": text} or {"outs": [{"dtype", "shape", "nbytes"}, …]}\n, then the bytes of the outputs
#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "operators/families/families.h"
#include "operators/operator.h"
#include "tensor/value.h"

namespace pterun {
namespace {

using Json = nlohmann::json;

// The values of one call. Addresses are stable.
class Call {
 public:
  Value* make(const Json& json) {
    const auto kind = json.at("t").get<std::string>();
    if (kind == "none") return add({});
    const Json& value = kind == "tensor" ? json : json.at("v");
    if (kind == "tensor") return add(make_tensor(json));
    if (kind == "int") return add(value.get<std::int64_t>());
    if (kind == "bool") return add(value.get<bool>());
    if (kind == "double") return add(value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>());
    if (kind == "string") return add(value.get<std::string>());
    if (kind == "ints")
      return add(make_list<IntList>(value, [&](const Json& v) { return add(v.get<std::int64_t>()); }));
    if (kind == "doubles") return add(DoubleList{value.get<std::vector<double>>()});
    if (kind == "bools") return add(BoolList{value.get<std::vector<bool>>()});
    if (kind == "tensors") return add(make_list<TensorList>(value, [&](const Json& v) { return make(v); }));
    if (kind == "optional_tensors") {
      return add(
          make_list<OptionalTensorList>(value, [&](const Json& v) { return v.at("t") == "none" ? nullptr : make(v); }));
    }
    throw std::invalid_argument("unknown argument " + kind);
  }

  std::vector<Tensor*> outputs;

 private:
  Value* add(Value::Payload payload) { return &values_.emplace_back(std::move(payload)); }

  template <typename List, typename Make>
  List make_list(const Json& items, const Make& make_item) {
    List list;
    for (const Json& item : items)
      list.items.push_back(make_item(item));
    return list;
  }

  Tensor* make_tensor(const Json& json) {
    const auto sizes = json.at("shape").get<std::vector<std::int64_t>>();
    const auto order = json.at("order").get<std::vector<std::uint8_t>>();
    const DType dtype = dtype_from_number(json.at("dtype").get<int>()).value();
    const Shape shape{std::span<const std::int64_t>(sizes)};
    Tensor& tensor = tensors_.emplace_back(HostTensor::allocate(dtype, shape, *DimOrder::from(order)).value()).view();
    const std::string role = json.value("role", "in");
    if (role == "out" || role == "dynamic") {
      std::memset(tensor.mutable_raw_data(), 0xA5, tensor.nbytes());
      if (role == "dynamic") tensor.mark_dynamic();
    } else {
      HostTensor given = HostTensor::allocate(dtype, shape).value();
      const std::size_t bytes = given.view().nbytes();
      if (std::fread(given.view().mutable_raw_data(), 1, bytes, stdin) != bytes) throw std::runtime_error("stdin ends");
      if (!copy_elements(given.view(), tensor)) throw std::logic_error("copy");
    }
    if (role != "in") outputs.push_back(&tensor);
    return &tensor;
  }

  std::deque<Value> values_;
  std::deque<HostTensor> tensors_;
};

Result<void> execute(const operators::OperatorRegistry& registry, ThreadPool& threads, const std::string& name,
                     std::span<Value* const> values) {
  const operators::OperatorRow* row = registry.find(name);
  if (row == nullptr) return fail(make_error(ErrorCode::kOperatorMissing, "no operator " + name));
  CollectingLog log;
  const operators::Arguments arguments(row->name, values);
  operators::PrepareContext prepare{.threads = &threads, .log = &log};
  PTERUN_ASSIGN(const auto kernel, operators::prepare_kernel(*row, prepare, arguments));
  operators::Scratch scratch;
  operators::ExecuteContext context{.threads = &threads, .scratch = &scratch};
  return kernel->execute(context, arguments);
}

void answer(const operators::OperatorRegistry& registry, ThreadPool& threads, const std::string& line) {
  const Json request = Json::parse(line);
  Call call;
  std::vector<Value*> values;
  for (const Json& argument : request.at("args"))
    values.push_back(call.make(argument));
  const auto done = execute(registry, threads, request.at("op").get<std::string>(), values);
  Json reply;
  std::vector<HostTensor> outputs;
  if (!done) {
    reply["error"] = done.error().to_string();
  } else {
    reply["outs"] = Json::array();
    for (const Tensor* output : call.outputs) {
      outputs.push_back(HostTensor::row_major_copy(*output).value());
      reply["outs"].push_back({{"dtype", static_cast<int>(output->dtype())},
                               {"shape", std::vector(output->shape().begin(), output->shape().end())},
                               {"nbytes", output->nbytes()}});
    }
  }
  const std::string text = reply.dump() + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  for (const HostTensor& output : outputs)
    std::fwrite(output.view().raw_data(), 1, output.view().nbytes(), stdout);
  std::fflush(stdout);
}

bool read_line(std::string& line) {
  line.clear();
  int c = 0;
  while ((c = std::getchar()) != EOF && c != '\n')
    line.push_back(static_cast<char>(c));
  return c != EOF;
}

}  // namespace
}  // namespace pterun

int main(int argc, char** argv) {
  const auto registry = pterun::operators::make_operator_registry();
  pterun::ThreadPool threads(argc > 1 ? std::stoul(argv[1]) : 1);
  std::string line;
  while (pterun::read_line(line))
    pterun::answer(registry, threads, line);
  return 0;
}
