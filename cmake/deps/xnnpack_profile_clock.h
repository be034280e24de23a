// Read before XNNPACK's subgraph files (cmake/deps/CMakeLists.txt): a clock for its profile, the only thing there that
// asks for the time. XNNPACK reports whole microseconds, and many nodes take less. This clock runs a thousand times
// faster, so that what it reports are nanoseconds. docs/decisions/0004-xnnpack-corrections.md.
#pragma once

#define _POSIX_C_SOURCE 199309L

#include <stdint.h>
#include <time.h>

static inline int pterun_profile_gettime(clockid_t clock, struct timespec* time) {
  const int result = clock_gettime(clock, time);
  if (result != 0) return result;
  const uint64_t scaled_nsec = (uint64_t)time->tv_nsec * UINT64_C(1000);
  time->tv_sec = (time_t)((uint64_t)time->tv_sec * UINT64_C(1000) + scaled_nsec / UINT64_C(1000000000));
  time->tv_nsec = (long)(scaled_nsec % UINT64_C(1000000000));
  return 0;
}

#define clock_gettime pterun_profile_gettime
