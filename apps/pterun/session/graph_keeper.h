// A backend of XNNPACK's name that reads the graphs of a program's delegates and runs none: for whoever computes their
// nodes in another way.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "backends/xnnpack_payload/graph.h"

namespace pterun::app {

// By method and index of the delegate.
using DelegateGraphs = std::map<std::pair<std::string, std::size_t>, xnnpack_payload::PayloadGraph>;

// `graphs` is borrowed and gets the graph of every delegate that is loaded. They refer to the bytes of the program.
std::unique_ptr<backend::Backend> make_graph_keeper(DelegateGraphs& graphs);

}  // namespace pterun::app
