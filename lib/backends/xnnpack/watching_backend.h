// XNNPACK with every intermediate result of a delegate made an output, so that each node can be judged by itself.
// Slower, and not quite what runs otherwise (nodes are not fused): whoever watches compares the outputs with those of
// an unwatched run first.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "backend/backend.h"
#include "backends/xnnpack_payload/graph.h"

namespace pterun::backends {

// What one call of a delegate computed. Borrowed for the duration of the watcher's call.
struct WatchedCall {
  std::string_view method;
  std::size_t delegate = 0;
  std::span<const Shape> shapes;  // by value of the payload
  // By value, in the payload's order of elements: inputs, outputs and intermediate results. Nothing for constants and
  // for types that exist only inside XNNPACK (dynamically quantised activations).
  std::span<const std::optional<Tensor>> values;
};
using DelegateWatcher = std::function<Result<void>(const WatchedCall& call)>;

// A backend of XNNPACK's name with default options. The watcher's errors are those of the delegate's execute.
std::unique_ptr<backend::Backend> make_watching_xnnpack_backend(DelegateWatcher watcher);

}  // namespace pterun::backends
