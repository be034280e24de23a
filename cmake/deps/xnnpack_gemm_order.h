// Read before XNNPACK's operator-run.c (cmake/deps/CMakeLists.txt): the order in which matrix products and convolutions
// walk their tiles. docs/decisions/0008-xnnpack-tile-order.md.
#pragma once

#include <pthreadpool.h>

#include "xnnpack/compute.h"

// XNNPACK computes all columns of one row tile before it goes to the next rows, so that weights which are larger than a
// core's cache come from memory once for every 7 or so rows. Here the weights are cut into blocks of columns that stay
// in the cache, and all rows pass each block. Results are the same to the bit: a column's sum does not depend on its
// tile.
enum {
  kPterunSmallBytes = 1024 * 1024,  // weights up to here stay in a core's second-level cache as they are
  kPterunBlockBytes = 256 * 1024,   // leaves room for rows and results beside a block
};

struct pterun_tiles {
  pthreadpool_task_2d_tile_2d_t task;
  void* context;
};

static void pterun_compute_transposed(void* argument, size_t column, size_t row, size_t columns, size_t rows) {
  const struct pterun_tiles* tiles = (const struct pterun_tiles*)argument;
  tiles->task(tiles->context, row, column, rows, columns);
}

// The bytes of packed weights for one column, and the columns that a kernel computes at once; false for other work.
static bool pterun_weights(pthreadpool_task_2d_tile_2d_t task, const void* context, size_t* column_bytes, size_t* nr) {
  if (task == (pthreadpool_task_2d_tile_2d_t)xnn_compute_gemm ||
      task == (pthreadpool_task_2d_tile_2d_t)xnn_compute_dqgemm) {
    const struct gemm_context* gemm = (const struct gemm_context*)context;
    *column_bytes = gemm->w_stride;
    *nr = gemm->cn_stride >> gemm->log2_csize;
    return true;
  }
  if (task == (pthreadpool_task_2d_tile_2d_t)xnn_compute_igemm ||
      task == (pthreadpool_task_2d_tile_2d_t)xnn_compute_dqigemm) {
    const struct igemm_context* igemm = (const struct igemm_context*)context;
    *column_bytes = igemm->w_stride;
    *nr = igemm->cn_stride >> igemm->log2_csize;
    return true;
  }
  return false;
}

static void pterun_parallelize_2d_tile_2d(pthreadpool_t pool, pthreadpool_task_2d_tile_2d_t task, void* context,
                                          size_t rows, size_t columns, size_t row_tile, size_t column_tile,
                                          uint32_t flags) {
  size_t column_bytes = 0;
  size_t nr = 0;
  if (rows <= row_tile || !pterun_weights(task, context, &column_bytes, &nr) ||
      columns * column_bytes <= kPterunSmallBytes) {
    pthreadpool_parallelize_2d_tile_2d(pool, task, context, rows, columns, row_tile, column_tile, flags);
    return;
  }
  size_t block = kPterunBlockBytes / column_bytes / nr * nr;
  if (block > column_tile) block = column_tile;  // what XNNPACK found right for the number of threads
  if (block < nr) block = nr;
  struct pterun_tiles tiles = {task, context};
  pthreadpool_parallelize_2d_tile_2d(pool, pterun_compute_transposed, &tiles, columns, rows, block, row_tile, flags);
}

#define pthreadpool_parallelize_2d_tile_2d pterun_parallelize_2d_tile_2d
