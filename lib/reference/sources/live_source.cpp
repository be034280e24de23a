// eager:FILE.pt2: PyTorch's ExportedProgram; executorch: the official runtime. Both run live in a Python process, whose
// state advances with the steps.
#include <filesystem>

#include <fmt/format.h>

#include "reference/live_python.h"
#include "reference/reference.h"
#include "tensor/io/tensor_file.h"

namespace pterun::reference {
namespace {

class LiveSource final : public Source, public TracingSource {
 public:
  LiveSource(std::unique_ptr<LivePython> python, std::string description, Kind kind)
      : python_(std::move(python)), description_(std::move(description)), kind_(kind) {}

  Result<Expected> expected(const runtime::Method& method, std::span<const StepInput> inputs) override {
    PTERUN_TRY(python_->ask("run", method.name(), inputs));
    auto outputs = io::read_positioned_tensors(python_->outputs_path());
    if (!outputs) return fail(as_reference_error(std::move(outputs).error()));
    Expected expected{description_, kind_, {}};
    for (io::PositionedTensor& output : *outputs)
      expected.outputs.push_back({output.position, std::move(output.tensor)});
    return expected;
  }

  TracingSource* tracing() override { return kind_ == Kind::kExecutorch ? nullptr : this; }
  const std::string& description() const override { return description_; }
  Kind kind() const override { return kind_; }
  Result<void> restart() override { return python_->ask("reset"); }
  Result<EagerTrace> trace(const runtime::Method& method, std::span<const StepInput> inputs) override {
    PTERUN_TRY(python_->ask("trace", method.name(), inputs));
    auto trace = read_eager_trace(python_->folder());
    if (!trace) return fail(as_reference_error(std::move(trace).error()));
    // The next trace goes to another file: this one is read as long as it is mapped.
    std::error_code ignored;
    std::filesystem::remove(python_->folder() + "/trace.bin", ignored);
    return trace;
  }

 private:
  static Error as_reference_error(Error error) {
    error.code = ErrorCode::kReference;
    error.blame = Blame::kInput;
    return error;
  }
  std::unique_ptr<LivePython> python_;
  std::string description_;
  Kind kind_;
};

Result<std::unique_ptr<LivePython>> start(const std::string& kind, const std::string& model,
                                          const SourceContext& context) {
  // Before Python and PyTorch are started, which takes seconds.
  std::error_code code;
  if (!std::filesystem::is_regular_file(model, code)) {
    return fail(make_error(ErrorCode::kReference, fmt::format("there is no file '{}'", model)).at("file", model));
  }
  auto python = LivePython::start(live_python_request(kind, model, context));
  if (!python) return fail(std::move(python).error().at("file", model));
  return python;
}

Result<std::unique_ptr<Source>> make_eager(std::string_view rest, const SourceContext& context) {
  const std::string path(rest);
  PTERUN_ASSIGN(auto python, start("eager", path, context));
  const bool converted = python->description().starts_with("converted_graph");
  std::string description = fmt::format("{} ({}, {})", path, converted ? "converted graph" : "float eager",
                                        runtime_name(python->description()));
  return std::make_unique<LiveSource>(std::move(python), std::move(description),
                                      converted ? Kind::kConvertedGraph : Kind::kFloatEager);
}

Result<std::unique_ptr<Source>> make_executorch(std::string_view, const SourceContext& context) {
  PTERUN_ASSIGN(auto python, start("executorch", context.model_path, context));
  std::string description = fmt::format("the official runtime ({})", runtime_name(python->description()));
  return std::make_unique<LiveSource>(std::move(python), std::move(description), Kind::kExecutorch);
}

}  // namespace

SourceKind eager_source() {
  return {"eager:", false, "eager:FILE.pt2: an ExportedProgram, run live by PyTorch", &make_eager};
}

SourceKind executorch_source() {
  return {"executorch", true, "executorch: the same program on the official runtime, run live", &make_executorch};
}

}  // namespace pterun::reference
