// Vector loops: 64-byte vectors that the compiler splits into what the target has, and a call that picks the version of
// a loop compiled for this processor.
//
//   struct ScaleLoop {
//     [[gnu::always_inline]] static inline void run(const float* x, std::int64_t n, float factor, float* out) { … }
//   };
//   call_vectorised<ScaleLoop>(x, n, 2.0f, out);
#pragma once

#include <cstdint>

#include "operators/vector_target.h"

namespace pterun::operators {

// 64 bytes of T at any address. Never passed or returned by value: its calling convention depends on the target.
template <typename T>
struct VectorOf {
  typedef T type __attribute__((vector_size(64), aligned(alignof(T)), may_alias));
  static constexpr std::int64_t kWidth = 64 / sizeof(T);
};
template <typename T>
using Vector = typename VectorOf<T>::type;
template <typename T>
inline constexpr std::int64_t kWidth = VectorOf<T>::kWidth;

template <typename T>
[[gnu::always_inline]] inline const Vector<T>& vector_at(const T* data) {
  return *reinterpret_cast<const Vector<T>*>(data);
}
template <typename T>
[[gnu::always_inline]] inline Vector<T>& vector_at(T* data) {
  return *reinterpret_cast<Vector<T>*>(data);
}

template <typename Loop, typename... Args>
void call_base(Args... args) {
  Loop::run(args...);
}
template <typename Loop, typename... Args>
PTERUN_TARGET_AVX2 void call_avx2(Args... args) {
  Loop::run(args...);
}
template <typename Loop, typename... Args>
PTERUN_TARGET_AVX512 void call_avx512(Args... args) {
  Loop::run(args...);
}

// Loop::run(args...), which is inlined into a function compiled for the processor's best target.
template <typename Loop, typename... Args>
void call_vectorised(Args... args) {
  switch (vector_target()) {
    case VectorTarget::kAvx512: return call_avx512<Loop, Args...>(args...);
    case VectorTarget::kAvx2: return call_avx2<Loop, Args...>(args...);
    case VectorTarget::kBase: break;
  }
  call_base<Loop, Args...>(args...);
}

}  // namespace pterun::operators
