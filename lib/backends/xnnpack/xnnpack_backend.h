// The XNNPACK backend: runs delegates with id "XnnpackBackend" on XNNPACK's subgraph API.
#pragma once

#include <memory>

#include "backend/backend.h"

namespace pterun::backends {

// Registered as "XnnpackBackend". Its options are those of the contract (backend_options.h).
std::unique_ptr<backend::Backend> make_xnnpack_backend();

}  // namespace pterun::backends
