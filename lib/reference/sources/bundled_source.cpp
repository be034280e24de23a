// bundled: the expected outputs of a test case inside a .bpte.
#include <fmt/format.h>

#include "program/bundled_program.h"
#include "reference/bundled_values.h"
#include "reference/reference.h"

namespace pterun::reference {
namespace {

class BundledSource final : public Source {
 public:
  BundledSource(std::shared_ptr<const program::BundledProgram> bundle, std::size_t test_case)
      : bundle_(std::move(bundle)), case_(test_case) {}

  Result<Expected> expected(const runtime::Method& method, std::span<const StepInput>) override {
    const program::BundledSuite* suite = bundle_->find_suite(method.name());
    if (suite == nullptr || case_ >= suite->cases.size()) {
      return fail(ErrorCode::kReference,
                  fmt::format("the bundled program holds {} test cases for method '{}', case {} was asked for",
                              suite == nullptr ? 0 : suite->cases.size(), method.name(), case_));
    }
    const program::BundledCase& test_case = suite->cases[case_];
    if (test_case.expected_outputs.empty()) {
      return fail(ErrorCode::kReference,
                  fmt::format("case {} of method '{}' holds no expected outputs", case_, method.name()));
    }
    Expected expected{fmt::format("bundled case {}", case_), Kind::kBundled, {}};
    for (const program::BundledValue& value : test_case.expected_outputs) {
      PTERUN_ASSIGN(HostTensor tensor, tensor_of(value));
      expected.outputs.push_back({expected.outputs.size(), std::move(tensor)});
    }
    return expected;
  }

 private:
  std::shared_ptr<const program::BundledProgram> bundle_;
  std::size_t case_;
};

Result<std::unique_ptr<Source>> make(std::string_view, const SourceContext& context) {
  auto bundle = program::BundledProgram::open(context.model_path);
  if (!bundle) {
    return fail(make_error(ErrorCode::kReference,
                           fmt::format("--reference bundled needs a bundled program: {}", bundle.error().message))
                    .at("file", context.model_path));
  }
  return std::make_unique<BundledSource>(*std::move(bundle), context.bundled_case);
}

}  // namespace

SourceKind bundled_source() {
  return {"bundled", true, "bundled: the outputs of the test case inside the .bpte", &make};
}

}  // namespace pterun::reference
