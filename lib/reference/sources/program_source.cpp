// pte:FILE.pte: another program's outputs on the same inputs; interpreter: the same program with its delegates on plain
// reference kernels. The state of either advances with the steps.
#include <fmt/format.h>

#include "reference/reference.h"
#include "tensor/host_copy.h"

namespace pterun::reference {
namespace {

// A problem of the reference program is a problem of the reference, whatever its cause: exit 4.
Error as_reference_error(Error error, const std::string& path) {
  Error result = make_error(ErrorCode::kReference, fmt::format("the reference program '{}': {}: {}", path,
                                                               error_code_name(error.code), error.message));
  result.hint = std::move(error.hint);
  result.where = std::move(error.where);
  return result;
}

class ProgramSource final : public Source {
 public:
  ProgramSource(std::string path, std::string description, Kind kind, std::unique_ptr<runtime::LoadedProgram> program)
      : path_(std::move(path)), description_(std::move(description)), kind_(kind), program_(std::move(program)) {}

  Result<Expected> expected(const runtime::Method& method, std::span<const StepInput> inputs) override {
    auto result = run(method.name(), inputs);
    if (!result) return fail(as_reference_error(std::move(result).error(), path_));
    return result;
  }

 private:
  Result<Expected> run(const std::string& method_name, std::span<const StepInput> inputs) {
    PTERUN_ASSIGN(runtime::Method * method, program_->load_method(method_name));
    if (method->inputs().size() != inputs.size()) {
      return fail(ErrorCode::kReference, fmt::format("method '{}' takes {} inputs, {} were given", method_name,
                                                     method->inputs().size(), inputs.size()));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      PTERUN_TRY(inputs[i].is_tensor ? method->set_input(i, inputs[i].tensor.view())
                                     : method->set_input(i, inputs[i].value));
    }
    PTERUN_TRY(method->execute());
    Expected expected{description_, kind_, {}};
    for (std::size_t i = 0, position = 0; i < method->outputs().size(); ++i) {
      const Value& output = method->output(i);
      if (output.is_none()) continue;
      PTERUN_ASSIGN(HostTensor copy, host_copy(output));
      expected.outputs.push_back({position++, std::move(copy)});
    }
    return expected;
  }

  std::string path_;
  std::string description_;
  Kind kind_;
  std::unique_ptr<runtime::LoadedProgram> program_;
};

Result<std::unique_ptr<Source>> make(std::string_view rest, const SourceContext& context) {
  const std::string path(rest);
  auto program = context.loader->load({path, context.data_paths, context.verification, {}});
  if (!program) return fail(as_reference_error(std::move(program).error(), path));
  return std::make_unique<ProgramSource>(path, path, Kind::kProgram, *std::move(program));
}

Result<std::unique_ptr<Source>> make_interpreter(std::string_view, const SourceContext& context) {
  auto program = context.interpreter->load({context.model_path, context.data_paths, context.verification, {}});
  if (!program) return fail(as_reference_error(std::move(program).error(), context.model_path));
  return std::make_unique<ProgramSource>(context.model_path, "the interpreter", Kind::kInterpreter,
                                         *std::move(program));
}

}  // namespace

SourceKind program_source() {
  return {"pte:", false, "pte:FILE.pte: another program, on the same inputs", &make};
}

SourceKind interpreter_source() {
  return {"interpreter", true, "interpreter: the same program on plain reference kernels, without XNNPACK",
          &make_interpreter};
}

}  // namespace pterun::reference
