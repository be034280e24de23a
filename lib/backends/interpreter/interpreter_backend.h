// The interpreter: runs XNNPACK payloads node by node on plain double-precision kernels, to judge XNNPACK without
// Python. It registers under XNNPACK's name, in a registry of its own, has no options and is slow on purpose.
#pragma once

#include <memory>

#include "backend/backend.h"

namespace pterun::backends {

std::unique_ptr<backend::Backend> make_interpreter_backend();

}  // namespace pterun::backends
