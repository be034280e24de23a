// Turning what a session holds into plain parts of the report.
#pragma once

#include <string>

#include "compare/comparison.h"
#include "config/plan.h"
#include "pterun/command.h"
#include "pterun/session/output_files.h"
#include "pterun/session/step_inputs.h"
#include "report/run_report.h"
#include "runtime/loader.h"

namespace pterun::app {

// A report with what is known from the beginning: kind, command line, time.
report::RunReport begin_report(report::Kind kind, const Invocation& invocation);
// The first event of --events; from then on the command tells its events, also that of an error.
void begin_events(OutputFiles& files, Invocation& invocation);
// The level of --require-evidence, as reports name it.
std::optional<report::Evidence> required_evidence(const config::OptionsPlan& plan);

// Copies of a step's inputs, for a reference.
Result<std::vector<reference::StepInput>> copy_inputs(const StepInputs& inputs);

// A tensor as an output of no method: name, dtype, shape, statistics, hash.
report::OutputReport describe_tensor(std::string name, std::size_t index, const Tensor& tensor, config::PrintMode print,
                                     bool hash);
// Of the elements' bytes in row-major order.
std::string sha256_of_tensor(const Tensor& tensor);
// `index` counts the outputs that are not None; `value` is the slot that `tensor` is a copy of.
report::OutputReport describe_output(std::size_t step, const runtime::Method& method, std::size_t index,
                                     const Value& value, const Tensor& tensor, config::PrintMode print, bool hash);
// An input of a single node.
report::IoReport describe_input(const std::string& name, std::string source, const Tensor& tensor, bool hash);
report::LoadReport describe_load(const runtime::LoadedProgram& program);
report::MethodReport describe_method(const runtime::Method& method, const StepInputs& inputs, bool hash);
// Puts the memory of this moment under the name of a phase ("after_load") into report.memory: the resident set and its
// peak so far and, once there is a program, planned buffers, workspaces (each once, however many delegates share it),
// weights packed here and weights mapped from a cache file.
void note_memory(report::RunReport& report, const std::string& phase, const runtime::LoadedProgram* program);
// Warns when a method runs without any delegate although it has operators.
void warn_without_delegate(const runtime::LoadedProgram& program, LogSink& log);
// The tolerance of one output: the dtype's default, then the step's rules for all floating outputs, then its own rules.
// Errors: kUsage for bounds that cannot be parsed.
Result<compare::Tolerance> tolerance_for(const config::StepPlan& step, std::size_t output, DType dtype);
// Fills in size and digest of the files of a run; those that cannot be read stay without.
void hash_files(report::Manifest& manifest);
// The file behind a --reference spec, "" when there is none.
std::string reference_file(const std::string& spec);

}  // namespace pterun::app
