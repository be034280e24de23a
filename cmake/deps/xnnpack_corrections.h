// Read before XNNPACK's own files (cmake/deps/CMakeLists.txt): what is wrong in the pinned version and can be put
// right from outside. docs/decisions/0004-xnnpack-corrections.md.
#pragma once

#include <xnnpack.h>

// Kernels for dynamically quantised activations read one pair of quantisation parameters per row of their tile, also for
// rows past the last one, whose results land on the last row's. XNNPACK repeats the last pair 10 times for that, but
// the blockwise 4-bit kernel for processors with GFNI has tiles of 14 rows: with 1, 2 or 3 rows in the last tile the last
// row came out wrong.
#undef XNN_EXTRA_QUANTIZATION_PARAMS
#define XNN_EXTRA_QUANTIZATION_PARAMS 16
