// The events, in the order of what happened.
#include "pterun/session/load_events.h"

#include "pterun/session/report_parts.h"

namespace pterun::app {

void tell_loaded(std::span<const report::OptionReport> options, const runtime::LoadedProgram& program,
                 EventLog& events) {
  for (const report::OptionReport& option : options) {
    report::EventFields fields = {{"backend", option.backend},
                                  {"key", option.key},
                                  {"path", options::option_path_name(option.path)},
                                  {"requested", option.requested},
                                  {"source", option.source},
                                  {"evidence", report::evidence_name(option.evidence)}};
    if (option.stored) fields.emplace_back("stored", *option.stored);
    events.emit("option", fields);
  }
  events.emit("program_loaded", {{"path", program.program().path()}, {"elapsed_ns", program.times().program_ns}});
  for (const auto& method : program.methods()) {
    events.emit("method_loaded", {{"method", method->name()},
                                  {"delegates", method->delegates().size()},
                                  {"kernel_calls", method->kernel_calls()}});
  }
  for (const backend::Receipt& receipt : program.receipts()) {
    events.emit("receipt", {{"backend", receipt.backend},
                            {"key", receipt.key},
                            {"method", receipt.method},
                            {"delegate", receipt.delegate},
                            {"value", receipt.value},
                            {"result", receipt.result}});
  }
}

}  // namespace pterun::app
