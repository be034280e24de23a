// `--node INSTRUCTION[:NODE]`: which instruction of a method, and which node of the delegate that it calls.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "config/origin.h"
#include "pterun/session/graph_keeper.h"
#include "runtime/method.h"
#include "runtime/stepping.h"

namespace pterun::app {

struct NodeTarget {
  std::size_t instruction = 0;
  std::optional<std::size_t> node;
};

// Errors: kUsage naming the text.
Result<NodeTarget> parse_node_target(const config::Setting<std::string>& setting);

// The number for Stepper::at of the instruction, which is an operator when the target names no node, and a delegate's
// call otherwise, whose graph is in `graphs`. Errors: kUsage for anything else, listing what there is.
Result<std::size_t> find_instruction(const NodeTarget& target, runtime::Method& method, const DelegateGraphs& graphs);

}  // namespace pterun::app
