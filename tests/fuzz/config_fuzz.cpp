// Any bytes read as a config: the document, the plan of every command, and the printed config.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/document.h"
#include "config/make_plan.h"
#include "memory_file.h"

using namespace pterun::config;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MemoryFile file;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = parse_document(text, "input");
  // What is extended lies outside the input.
  if (!document || document->find("extends") != nullptr) return 0;
  file.fill(data, size);
  for (const Command command : {Command::kRun, Command::kBench, Command::kInspect, Command::kOptions}) {
    PlanRequest request;
    request.command = command;
    request.flags = {{"--config", file.path()}};
    const auto plan = make_plan(request);
    if (plan && plan->steps.empty()) std::abort();
  }
  return 0;
}
