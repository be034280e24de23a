// Asks the processor, once.
#include "operators/vector_target.h"

namespace pterun::operators {

VectorTarget vector_target() {
#if defined(__x86_64__)
  static const VectorTarget target = [] {
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return avx512 ? VectorTarget::kAvx512 : avx2 ? VectorTarget::kAvx2 : VectorTarget::kBase;
  }();
  return target;
#else
  return VectorTarget::kBase;
#endif
}

}  // namespace pterun::operators
