// The XNNPACK library of this process: initialised once, here and nowhere else, with an allocator that counts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <xnnpack.h>

#include "base/error.h"

namespace pterun::xnnpack {

// Initialises XNNPACK on the first call; later calls return the first one's result. Thread safe.
// Errors: kNotSupported when the processor lacks what XNNPACK needs (SSE2 on x86, NEON on Arm).
Result<void> initialize();

// "2024-11-08 (4ea82e5)": which XNNPACK this build holds, which the library itself cannot tell.
std::string_view library_version();

// Hash of the microkernels in this library; packed weights of another build may have another layout. 16 lower-case
// hex digits.
std::string build_identifier();

// Instruction-set extensions of this processor that XNNPACK chooses kernels by, sorted: "avx2", "avx512vnni", …
std::vector<std::string> cpu_features();

// "invalid_parameter", "out_of_memory", … as in xnnpack.h.
std::string_view status_name(xnn_status status);

// The error for a call that returned `status`: "<what>: XNNPACK says invalid_parameter".
// out_of_memory is kMemoryAllocationFailed, unsupported_hardware and unsupported_parameter kNotSupported, the rest
// kInternal.
Error status_error(xnn_status status, std::string_view what);

}  // namespace pterun::xnnpack
