// Initialisation of XNNPACK and what can be said about it. xnn_initialize keeps the first allocator for good, so it
// must be called from this file only.
#include "xnnpack/library.h"

#include <cstdint>
#include <string>
#include <utility>

#include <cpuinfo.h>
#include <fmt/format.h>

#include "generated/version.h"
#include "xnnpack/counting_allocator.h"

namespace pterun::xnnpack {

Result<void> initialize() {
  static const xnn_status status = xnn_initialize(&counting_allocator());
  if (status == xnn_status_success) return {};
  return fail(status_error(status, "XNNPACK cannot be initialised on this processor"));
}

std::string_view library_version() {
  return kXnnpackVersion;
}

std::string build_identifier() {
  const auto* bytes = static_cast<const std::uint8_t*>(xnn_experimental_get_build_identifier_data());
  std::uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a, 64 bits
  for (std::size_t i = 0; i < xnn_experimental_get_build_identifier_size(); ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001B3u;
  }
  return fmt::format("{:016x}", hash);
}

std::vector<std::string> cpu_features() {
  std::vector<std::string> found;
  if (!cpuinfo_initialize()) return found;
#if defined(__x86_64__) || defined(__i386__)
  // Sorted by name.
  const std::pair<const char*, bool> known[] = {
      {"amx_int8", cpuinfo_has_x86_amx_int8()},
      {"avx", cpuinfo_has_x86_avx()},
      {"avx2", cpuinfo_has_x86_avx2()},
      {"avx512bf16", cpuinfo_has_x86_avx512bf16()},
      {"avx512bw", cpuinfo_has_x86_avx512bw()},
      {"avx512cd", cpuinfo_has_x86_avx512cd()},
      {"avx512dq", cpuinfo_has_x86_avx512dq()},
      {"avx512f", cpuinfo_has_x86_avx512f()},
      {"avx512fp16", cpuinfo_has_x86_avx512fp16()},
      {"avx512vbmi", cpuinfo_has_x86_avx512vbmi()},
      {"avx512vl", cpuinfo_has_x86_avx512vl()},
      {"avx512vnni", cpuinfo_has_x86_avx512vnni()},
      {"avxvnni", cpuinfo_has_x86_avxvnni()},
      {"f16c", cpuinfo_has_x86_f16c()},
      {"fma3", cpuinfo_has_x86_fma3()},
      {"gfni", cpuinfo_has_x86_gfni()},
      {"sse2", cpuinfo_has_x86_sse2()},
      {"sse4_1", cpuinfo_has_x86_sse4_1()},
      {"ssse3", cpuinfo_has_x86_ssse3()},
  };
#else
  const std::pair<const char*, bool> known[] = {
      {"neon", cpuinfo_has_arm_neon()},         {"neon_bf16", cpuinfo_has_arm_bf16()},
      {"neon_dot", cpuinfo_has_arm_neon_dot()}, {"neon_fp16_arith", cpuinfo_has_arm_neon_fp16_arith()},
      {"neon_i8mm", cpuinfo_has_arm_i8mm()},
  };
#endif
  for (const auto& [name, present] : known) {
    if (present) found.emplace_back(name);
  }
  return found;
}

std::string_view status_name(xnn_status status) {
  switch (status) {
    case xnn_status_success: return "success";
    case xnn_status_uninitialized: return "uninitialized";
    case xnn_status_invalid_parameter: return "invalid_parameter";
    case xnn_status_invalid_state: return "invalid_state";
    case xnn_status_unsupported_parameter: return "unsupported_parameter";
    case xnn_status_unsupported_hardware: return "unsupported_hardware";
    case xnn_status_out_of_memory: return "out_of_memory";
    case xnn_status_reallocation_required: return "reallocation_required";
    case xnn_status_deprecated: return "deprecated";
  }
  return "unknown status";
}

Error status_error(xnn_status status, std::string_view what) {
  ErrorCode code = ErrorCode::kInternal;
  if (status == xnn_status_out_of_memory) code = ErrorCode::kMemoryAllocationFailed;
  if (status == xnn_status_unsupported_hardware || status == xnn_status_unsupported_parameter) {
    code = ErrorCode::kNotSupported;
  }
  return make_error(code, fmt::format("{}: XNNPACK says {}", what, status_name(status)));
}

}  // namespace pterun::xnnpack
