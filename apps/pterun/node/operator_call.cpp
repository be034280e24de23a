// Slots of a method that was never executed, filled from elsewhere.
#include "pterun/node/operator_call.h"

#include <algorithm>
#include <cstring>
#include <deque>

#include <fmt/format.h>

#include "runtime/stepping.h"
#include "tensor/generate.h"
#include "tensor/host_copy.h"

namespace pterun::app {
namespace {

using runtime::Instruction;
using runtime::Stepper;

bool is_result(const Value& last, const Tensor* tensor) {
  if (last.tensor() != nullptr) return last.tensor() == tensor;
  const auto holds = [&](const auto* list) {
    return list != nullptr && std::ranges::any_of(list->items, [&](const Value* item) {
             return item != nullptr && item->tensor() == tensor;
           });
  };
  return holds(last.get_if<TensorList>()) || holds(last.get_if<OptionalTensorList>());
}

// What saved_copy made of bfloat16.
Result<HostTensor> narrowed(const Tensor& tensor) {
  PTERUN_ASSIGN(HostTensor narrow, HostTensor::allocate(DType::kBFloat16, tensor.shape()));
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    narrow.view().mutable_data<BFloat16>()[i] = BFloat16(tensor.data<float>()[i]);
  return narrow;
}

bool is_same(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && (a.nbytes() == 0 || std::memcmp(a.raw_data(), b.raw_data(), a.nbytes()) == 0);
}

class OperatorCall {
 public:
  explicit OperatorCall(const OperatorCallRequest& request) : request_(request) {}

  Result<NodeOutcome> run() {
    Stepper stepper(*request_.method);
    const Instruction instruction = stepper.at(request_.step);
    if (request_.file != nullptr) {
      std::vector<std::string> keys;
      for (const ArgumentSlot& slot : argument_slots(instruction.args))
        keys.push_back(slot.key);
      PTERUN_TRY(request_.file->check_inputs(keys));
    }
    PTERUN_TRY(fill(instruction, &outcome_.inputs));
    std::vector<HostTensor> before;
    const std::vector<ArgumentSlot> tensors = tensors_of(instruction);
    for (const ArgumentSlot& slot : tensors) {
      PTERUN_ASSIGN(HostTensor copy, HostTensor::row_major_copy(*slot.value->tensor()));
      before.push_back(std::move(copy));
    }
    PTERUN_TRY(stepper.run(request_.step));
    PTERUN_TRY(run_reference(instruction));
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Tensor* tensor = tensors[i].value->tensor();
      PTERUN_ASSIGN(HostTensor after, HostTensor::row_major_copy(*tensor));
      if (!is_result(*instruction.args.back(), tensor) && is_same(before[i].view(), after.view())) continue;
      PTERUN_TRY(add_output(tensors[i], std::move(after)));
    }
    if (instruction.args.back()->is_scalar()) PTERUN_TRY(add_number(instruction));
    return std::move(outcome_);
  }

 private:
  // Tensors that can change, each once: a result stands among the arguments twice.
  static std::vector<ArgumentSlot> tensors_of(const Instruction& instruction) {
    std::vector<ArgumentSlot> tensors;
    for (ArgumentSlot& slot : argument_slots(instruction.args)) {
      const Tensor* tensor = slot.value->tensor();
      if (tensor == nullptr || tensor->is_constant()) continue;
      const auto same = [&](const ArgumentSlot& known) { return known.value->tensor() == tensor; };
      if (std::ranges::none_of(tensors, same)) tensors.push_back(std::move(slot));
    }
    return tensors;
  }

  // `inputs`, where given, gets what was filled in.
  Result<void> fill(const Instruction& instruction, std::vector<NodeInput>* inputs) {
    std::vector<const Tensor*> filled;
    for (const ArgumentSlot& slot : argument_slots(instruction.args)) {
      Tensor* tensor = slot.value->tensor();
      const Tensor* given = request_.file == nullptr ? nullptr : request_.file->find(slot.key);
      if (tensor == nullptr) {
        if (given != nullptr) PTERUN_TRY(set_number(slot, *given));
        if (inputs != nullptr && (given != nullptr || request_.file == nullptr)) PTERUN_TRY(note_input(slot, *inputs));
        continue;
      }
      if (std::ranges::find(filled, tensor) != filled.end()) continue;
      filled.push_back(tensor);
      if (tensor->is_constant()) {
        // The reference program's own may be what differs.
        if (given != nullptr && inputs != nullptr) PTERUN_TRY(check_constant(slot, *given));
        continue;
      }
      PTERUN_TRY(give_memory(*tensor));
      const bool result = is_result(*instruction.args.back(), tensor);
      if (given == nullptr && result) continue;
      PTERUN_TRY(given == nullptr ? generate_tensor(slot) : set_tensor(slot, *given));
      if (inputs != nullptr && !result) PTERUN_TRY(note_input(slot, *inputs));
    }
    return {};
  }

  Result<void> note_input(const ArgumentSlot& slot, std::vector<NodeInput>& inputs) {
    NodeInput input;
    input.name = slot.key;
    if (request_.file != nullptr) {
      input.source = request_.file->path() + ":" + slot.key;
    } else {
      input.source = slot.value->tensor() == nullptr ? "baked into the program" : generated_;
    }
    PTERUN_ASSIGN(input.tensor, host_copy(*slot.value));
    inputs.push_back(std::move(input));
    return {};
  }

  // A planned tensor has memory; others get it from the caller or from an operator before.
  Result<void> give_memory(Tensor& tensor) {
    if (tensor.raw_data() != nullptr) return {};
    const Shape bound = tensor.bound();
    PTERUN_ASSIGN(HostTensor memory, HostTensor::allocate(tensor.dtype(), bound));
    tensor.set_data(memory.view().mutable_raw_data());
    memory_.push_back(std::move(memory));
    return {};
  }

  Result<void> generate_tensor(const ArgumentSlot& slot) {
    Tensor& tensor = *slot.value->tensor();
    if (request_.file != nullptr) {
      return fail(request_.file->missing(slot.key, fmt::format("the operator reads {} there", tensor.describe())));
    }
    const Generator generator = default_generator(tensor.dtype());
    generated_ = fmt::format("{}, seed {}", to_string(generator), request_.seed);
    return generate(generator, request_.seed, static_cast<std::uint32_t>(slot.argument), tensor);
  }

  Error wrong(const ArgumentSlot& slot, const Tensor& given, const std::string& needed) const {
    return make_error(ErrorCode::kInput, fmt::format("'{}' of '{}' is {}, the operator takes {}", slot.key,
                                                     request_.file->path(), given.describe(), needed))
        .at("file", request_.file->path())
        .at("key", slot.key);
  }

  Result<void> set_tensor(const ArgumentSlot& slot, const Tensor& given) {
    Tensor& tensor = *slot.value->tensor();
    if (!tensor.resize(given.shape())) {
      return fail(
          wrong(slot, given,
                (tensor.is_dynamic() ? "at most " : "") + Tensor(tensor.dtype(), tensor.bound(), nullptr).describe()));
    }
    if (tensor.dtype() == given.dtype()) return copy_elements(given, tensor);
    if (tensor.dtype() != DType::kBFloat16 || given.dtype() != DType::kFloat32) {
      return fail(wrong(slot, given, std::string(dtype_name(tensor.dtype()))));
    }
    PTERUN_ASSIGN(const HostTensor narrow, narrowed(given));
    return copy_elements(narrow.view(), tensor);
  }

  Result<void> check_constant(const ArgumentSlot& slot, const Tensor& given) const {
    PTERUN_ASSIGN(const HostTensor own, saved_copy(*slot.value->tensor()));
    if (own.view().dtype() == given.dtype() && is_same(own.view(), given)) return {};
    return fail(
        make_error(ErrorCode::kInput, fmt::format("'{}' of '{}' is not what the program holds there: a constant, {}",
                                                  slot.key, request_.file->path(), slot.value->tensor()->describe()))
            .with_hint("leave it out: constants stay")
            .at("file", request_.file->path())
            .at("key", slot.key));
  }

  Result<void> set_number(const ArgumentSlot& slot, const Tensor& given) const {
    Value& value = *slot.value;
    const bool fits = given.numel() == 1 && given.rank() <= 1;
    if (fits && value.is_bool() && given.dtype() == DType::kBool) {
      value.set(*given.data<bool>());
    } else if (fits && value.is_int() && given.dtype() == DType::kInt64) {
      value.set(*given.data<std::int64_t>());
    } else if (fits && value.is_double() && given.dtype() == DType::kFloat64) {
      value.set(*given.data<double>());
    } else {
      return fail(wrong(slot, given,
                        value.is_bool()  ? "a bool"
                        : value.is_int() ? "an int64 number"
                                         : "a float64 number"));
    }
    return {};
  }

  Result<void> run_reference(const Instruction& instruction) {
    if (request_.reference == nullptr) return {};
    Stepper other(*request_.reference);
    const auto otherwise = [&](const std::string& what) {
      return fail(make_error(ErrorCode::kReference, fmt::format("instruction {} of {} is built otherwise: {}",
                                                                instruction.index, request_.reference_name, what)));
    };
    if (request_.step >= other.size()) return otherwise("there is none");
    twin_ = other.at(request_.step);
    if (twin_.name != instruction.name || twin_.args.size() != instruction.args.size()) {
      return otherwise(fmt::format("it is {}", twin_.name));
    }
    PTERUN_TRY(fill(twin_, nullptr));
    return other.run(request_.step);
  }

  Result<void> add_output(const ArgumentSlot& slot, HostTensor tensor) {
    NodeOutput output;
    output.name = fmt::format("argument {}", slot.key.substr(sizeof "input_" - 1));
    PTERUN_TRY(expect_reference(slot, tensor.view(), output));
    PTERUN_TRY(expect_saved(slot, tensor.view(), output));
    output.tensor = std::move(tensor);
    outcome_.outputs.push_back(std::move(output));
    return {};
  }

  Result<void> add_number(const Instruction& instruction) {
    NodeOutput output;
    output.name = fmt::format("argument {}", instruction.args.size() - 1);
    PTERUN_ASSIGN(output.tensor, host_copy(*instruction.args.back()));
    outcome_.outputs.push_back(std::move(output));
    return {};
  }

  Result<void> expect_reference(const ArgumentSlot& slot, const Tensor& got, NodeOutput& output) {
    if (request_.reference == nullptr) return {};
    const std::vector<ArgumentSlot> slots = argument_slots(twin_.args);
    const auto same = std::ranges::find(slots, slot.key, &ArgumentSlot::key);
    const Tensor* want = same == slots.end() ? nullptr : same->value->tensor();
    if (want == nullptr) return {};
    return expect(request_.reference_name, "program", got, *want, output);
  }

  Result<void> expect_saved(const ArgumentSlot& slot, const Tensor& got, NodeOutput& output) {
    // A result stands twice among the arguments; the file may have it under either.
    const Tensor* want = request_.file == nullptr ? nullptr : request_.file->find("want" + slot.key.substr(5));
    if (want == nullptr && request_.file != nullptr && outcome_.outputs.empty()) want = request_.file->find("want");
    if (want == nullptr) return {};
    return expect(fmt::format("want of {}", request_.file->path()), "file", got, *want, output);
  }

  static Result<void> expect(std::string name, std::string kind, const Tensor& got, const Tensor& want,
                             NodeOutput& output) {
    NodeExpectation expectation;
    expectation.reference = std::move(name);
    expectation.reference_kind = std::move(kind);
    expectation.judged = got.dtype();
    PTERUN_ASSIGN(expectation.got, want.dtype() == got.dtype() ? HostTensor::row_major_copy(got) : saved_copy(got));
    PTERUN_ASSIGN(expectation.want, HostTensor::row_major_copy(want));
    output.expectations.push_back(std::move(expectation));
    return {};
  }

  const OperatorCallRequest& request_;
  Instruction twin_;
  std::deque<HostTensor> memory_;
  std::string generated_;
  NodeOutcome outcome_;
};

}  // namespace

Result<NodeOutcome> run_operator_call(const OperatorCallRequest& request) {
  return OperatorCall(request).run();
}

}  // namespace pterun::app
