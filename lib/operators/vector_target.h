// Instruction sets of the vector loops. The build targets plain x86-64, so a hot loop is compiled once more for
// AVX2 (and, for heavy arithmetic, for AVX-512) and the version is picked at run time. Written out by hand, because
// target_clones needs ifuncs, which sanitizers and static binaries do not like.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#define PTERUN_TARGET_AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2")))
#define PTERUN_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2")))
#else
#define PTERUN_TARGET_AVX2
#define PTERUN_TARGET_AVX512
#endif

// In front of a loop whose iterations do not depend on each other, whatever the pointers alias.
#if defined(__clang__)
#define PTERUN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define PTERUN_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace pterun::operators {

enum class VectorTarget : std::uint8_t { kBase, kAvx2, kAvx512 };

// The best target of this processor; found out once.
VectorTarget vector_target();

}  // namespace pterun::operators
