// Any text as a command line: each line is a flag and, behind the first space, its text. Every command's plan is made
// of them, the options among them are checked against XnnpackBackend's table, and the smaller languages of flags
// (options, bounds, gates, generators) read each text as well. Flags that name files to read while planning are left
// out.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "backends/xnnpack/backend_options.h"
#include "bench/gate.h"
#include "compare/comparison.h"
#include "config/make_plan.h"
#include "options/check.h"
#include "tensor/generate.h"

namespace {

using namespace pterun;

std::vector<config::FlagValue> split_flags(std::string_view text) {
  std::vector<config::FlagValue> flags;
  while (!text.empty() && flags.size() < 32) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
    const std::size_t space = line.find(' ');
    const std::string name(line.substr(0, space));
    if (name == "--config") continue;
    flags.push_back({name, space == line.npos ? "true" : std::string(line.substr(space + 1))});
  }
  return flags;
}

// What was printed reads back as the same thing.
void read_small_languages(const std::string& text) {
  if (const auto bounds = compare::parse_bounds(text)) {
    for (const compare::Bound& bound : *bounds) {
      const auto again = compare::parse_bounds(bound.to_string());
      if (!again || again->size() != 1 || again->front().to_string() != bound.to_string()) std::abort();
    }
  }
  (void)bench::parse_gate(text);
  if (const auto generator = parse_generator(text)) {
    const auto again = parse_generator(to_string(*generator));
    if (!again || to_string(*again) != to_string(*generator)) std::abort();
  }
}

void check_options(std::vector<options::OptionRequest> requests) {
  const options::OptionTable* tables[] = {&backends::xnn::option_table()};
  for (const bool raw : {false, true}) {
    for (const bool allow_unknown : {false, true}) {
      const auto checked = options::check_options(requests, tables, {allow_unknown, raw, {}});
      if (!checked) continue;
      for (const options::CheckedOption& option : checked->load) {
        if (option.backend.size() > 63 || option.key.size() > 63 || option.key.empty()) std::abort();
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto flags = split_flags({reinterpret_cast<const char*>(data), size});
  std::vector<options::OptionRequest> requests;
  for (const config::FlagValue& flag : flags) {
    read_small_languages(flag.text);
    (void)options::parse_name(flag.text, "input");
    for (const auto path : {options::OptionPath::kGlobal, options::OptionPath::kLoad}) {
      auto request = options::parse_flag(flag.text, path, 1);
      if (request) requests.push_back(*std::move(request));
    }
  }
  check_options(std::move(requests));
  using config::Command;
  for (const Command command :
       {Command::kRun, Command::kBench, Command::kInspect, Command::kOptions, Command::kCompare, Command::kReport}) {
    (void)config::make_plan({command, flags, {}});
  }
  return 0;
}
