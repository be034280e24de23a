// Instructions of a method: every index they hold is checked here, so that the executor need not.
#include <fmt/format.h>

#include "program/method_reader.h"

namespace pterun::program {
namespace {

std::unexpected<Error> invalid(std::string message) {
  return fail(program_error(ErrorCode::kInvalidProgram, std::move(message)));
}

// A condition is a Bool or a Tensor when it is read; before an instruction has written it, its slot may hold another
// scalar (exporters write an Int for a comparison of sizes).
bool may_become_bool(const ValueSpec& value) {
  return std::holds_alternative<TensorSpec>(value) || std::holds_alternative<bool>(value) ||
         std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value) ||
         std::holds_alternative<NoneSpec>(value);
}

// Reads the instructions of one chain.
class ChainReader {
 public:
  ChainReader(const MethodPlan& method, const ReadContext& context, std::size_t length)
      : method_(method), context_(context), length_(length) {}

  Result<Instruction> read(const fb::Instruction& instruction) const {
    if (instruction.instr_args() == nullptr) return invalid("it has no arguments");
    switch (instruction.instr_args_type()) {
      case fb::InstructionArguments::KernelCall: return read(*instruction.instr_args_as_KernelCall());
      case fb::InstructionArguments::DelegateCall: return read(*instruction.instr_args_as_DelegateCall());
      case fb::InstructionArguments::MoveCall: return read(*instruction.instr_args_as_MoveCall());
      case fb::InstructionArguments::JumpFalseCall: return read(*instruction.instr_args_as_JumpFalseCall());
      case fb::InstructionArguments::FreeCall: return read(*instruction.instr_args_as_FreeCall());
      case fb::InstructionArguments::NONE: break;
    }
    return invalid(fmt::format("it is of the unknown kind {}", static_cast<int>(instruction.instr_args_type())));
  }

 private:
  Result<std::uint32_t> value(std::int32_t index, const char* what) const {
    return checked_index(index, method_.values.size(), what, "values");
  }
  Result<std::vector<std::uint32_t>> arguments(const flatbuffers::Vector<std::int32_t>* args) const {
    return read_value_indices(items_of(args), method_.values.size(), "an argument is value", context_);
  }

  Result<Instruction> read(const fb::KernelCall& call) const {
    KernelCall result;
    PTERUN_ASSIGN(result.op,
                  checked_index(call.op_index(), method_.operators.size(), "it calls operator", "operators"));
    PTERUN_ASSIGN(result.args, arguments(call.args()));
    return result;
  }

  Result<Instruction> read(const fb::DelegateCall& call) const {
    DelegateCall result;
    PTERUN_ASSIGN(result.delegate,
                  checked_index(call.delegate_index(), method_.delegates.size(), "it calls delegate", "delegates"));
    PTERUN_ASSIGN(result.args, arguments(call.args()));
    return result;
  }

  Result<Instruction> read(const fb::MoveCall& call) const {
    MoveCall result;
    PTERUN_ASSIGN(result.from, value(call.move_from(), "it moves from value"));
    PTERUN_ASSIGN(result.to, value(call.move_to(), "it moves to value"));
    return result;
  }

  Result<Instruction> read(const fb::JumpFalseCall& call) const {
    JumpFalseCall result;
    PTERUN_ASSIGN(result.condition, value(call.cond_value_index(), "its condition is value"));
    if (!may_become_bool(method_.values[result.condition])) {
      return invalid(fmt::format("its condition, value {}, is neither a scalar nor a Tensor", result.condition));
    }
    // One past the last instruction ends the chain.
    PTERUN_ASSIGN(result.destination, checked_index(call.destination_instruction(), length_ + 1,
                                                    "it jumps to instruction", "places to go"));
    return result;
  }

  Result<Instruction> read(const fb::FreeCall& call) const {
    FreeCall result;
    PTERUN_ASSIGN(result.value, value(call.value_index(), "it frees value"));
    if (!std::holds_alternative<TensorSpec>(method_.values[result.value])) {
      return invalid(fmt::format("it frees value {}, which is no Tensor", result.value));
    }
    return result;
  }

  const MethodPlan& method_;
  const ReadContext& context_;
  std::size_t length_;
};

}  // namespace

Result<std::vector<std::vector<Instruction>>> read_chains(const fb::ExecutionPlan& plan, const MethodPlan& method,
                                                          const ReadContext& context) {
  const TableList chains(plan.chains());
  if (chains.size() == 0) return invalid("it has no chain of instructions");
  std::vector<std::vector<Instruction>> result(chains.size());
  for (std::size_t c = 0; c < chains.size(); ++c) {
    const TableList instructions(chains[c].instructions());
    const ChainReader reader(method, context, instructions.size());
    result[c].reserve(instructions.size());
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      auto instruction = reader.read(instructions[i]);
      if (!instruction) {
        Error error = std::move(instruction).error();
        error.message = fmt::format("instruction {} of chain {}: {}", i, c, error.message);
        return fail(std::move(error).at("instruction", std::to_string(i)));
      }
      result[c].push_back(*std::move(instruction));
    }
  }
  return result;
}

}  // namespace pterun::program
