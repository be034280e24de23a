// Unrolled convolutions. A convolution multiplies the weight by the unrolled input; a transposed one multiplies the
// weight's transpose by the input and folds the result back. Gradients are the same products with roles changed.
#include "operators/columns.h"

#include <algorithm>

#include "operators/dtype_dispatch.h"
#include "operators/gemm.h"

namespace pterun::operators {
namespace {

// The part [first, last) of a line of `count` positions whose image index, start + position * stride, lies inside
// [0, size).
struct Range {
  std::int64_t first, last;
};

Range inside(std::int64_t count, std::int64_t start, std::int64_t stride, std::int64_t size) {
  const std::int64_t first = start >= 0 ? 0 : (-start + stride - 1) / stride;
  const std::int64_t last = size - start <= 0 ? 0 : (size - start + stride - 1) / stride;
  return {std::min(first, count), std::clamp(last, std::min(first, count), count)};
}

// Calls line(first image index or -1 for padding, offset in the row, positions line begins at, length) for every
// stretch of positions [begin, end) with the same depth and height, for one row of the columns.
template <typename Line>
void for_each_line(const ColumnMap& map, std::int64_t row, std::int64_t begin, std::int64_t end, const Line& line) {
  const std::int64_t kx = row % map.kernel[2];
  const std::int64_t ky = row / map.kernel[2] % map.kernel[1];
  const std::int64_t kz = row / (map.kernel[2] * map.kernel[1]) % map.kernel[0];
  const std::int64_t channel = row / volume(map.kernel);
  for (std::int64_t p = begin; p < end;) {
    const std::int64_t x = p % map.positions[2];
    const std::int64_t y = p / map.positions[2] % map.positions[1];
    const std::int64_t z = p / (map.positions[2] * map.positions[1]);
    const std::int64_t length = std::min(end - p, map.positions[2] - x);
    const std::int64_t image_z = z * map.stride[0] - map.padding[0] + kz * map.dilation[0];
    const std::int64_t image_y = y * map.stride[1] - map.padding[1] + ky * map.dilation[1];
    const std::int64_t image_x = x * map.stride[2] - map.padding[2] + kx * map.dilation[2];
    const bool padding = image_z < 0 || image_z >= map.image[0] || image_y < 0 || image_y >= map.image[1];
    const std::int64_t base = ((channel * map.image[0] + image_z) * map.image[1] + image_y) * map.image[2];
    const Range range = padding ? Range{0, 0} : inside(length, image_x, map.stride[2], map.image[2]);
    line(base + image_x, p - begin, length, range);
    p += length;
  }
}

template <typename T>
MatrixView view_of(const T* data, std::int64_t row_stride, std::int64_t column_stride) {
  constexpr DType dtype = kComputeOf<T> == Compute::kFloat    ? DType::kFloat32
                          : kComputeOf<T> == Compute::kDouble ? DType::kFloat64
                                                              : DType::kInt64;
  return {data, dtype, row_stride, column_stride};
}

// Room for the columns of one chunk.
template <typename T>
Result<T*> allocate_columns(ExecuteContext& context, const ColumnMap& map) {
  const std::size_t bytes = static_cast<std::size_t>(map.rows() * map.chunk()) * sizeof(T);
  PTERUN_ASSIGN(std::byte * memory, context.scratch->allocate(bytes));
  return reinterpret_cast<T*>(memory);
}

// Calls work(begin, end) for chunk after chunk of the positions.
template <typename Work>
void for_each_chunk(const ColumnMap& map, const Work& work) {
  const std::int64_t positions = volume(map.positions);
  const std::int64_t chunk = map.chunk();
  for (std::int64_t begin = 0; begin < positions; begin += chunk)
    work(begin, std::min(begin + chunk, positions));
}

template <typename T>
void fill_with_bias(const ConvolutionGeometry& g, const T* bias, T* out) {
  const std::int64_t positions = volume(g.out);
  for (std::int64_t plane = 0; plane < g.batch * g.out_channels; ++plane) {
    std::fill_n(out + plane * positions, positions, bias == nullptr ? T{0} : bias[plane % g.out_channels]);
  }
}

// For every image and group: out += weight (rows x depth) * columns of the image.
// `small` is the side with one element a position, `image` the unrolled side.
template <typename T>
void multiply_columns(ThreadPool& threads, const ColumnMap& map, std::int64_t groups, std::int64_t rows,
                      const T* weight, const T* image, T* small, T* columns) {
  const std::int64_t positions = volume(map.positions);
  const std::int64_t depth = map.rows();
  for_each_chunk(map, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = 0; group < groups; ++group) {
      image_to_columns(threads, map, image + group * map.channels * volume(map.image), begin, end, columns);
      gemm_accumulate<T>(threads, {rows, end - begin, depth}, view_of(weight + group * rows * depth, depth, 1),
                         view_of(columns, end - begin, 1), small + group * rows * positions + begin, positions);
    }
  });
}

// For every group: image += fold(weight^T * small).
template <typename T>
void fold_columns(ThreadPool& threads, const ColumnMap& map, std::int64_t groups, std::int64_t depth, const T* weight,
                  const T* small, T* image, T* columns) {
  const std::int64_t positions = volume(map.positions);
  const std::int64_t rows = map.rows();
  for_each_chunk(map, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = 0; group < groups; ++group) {
      std::fill_n(columns, rows * (end - begin), T{0});
      gemm_accumulate<T>(threads, {rows, end - begin, depth}, view_of(weight + group * depth * rows, 1, rows),
                         view_of(small + group * depth * positions + begin, positions, 1), columns, end - begin);
      add_columns_to_image(threads, map, columns, begin, end, image + group * map.channels * volume(map.image));
    }
  });
}

}  // namespace

ColumnMap ColumnMap::of_group(const ConvolutionGeometry& g) {
  ColumnMap map;
  map.channels = g.transposed ? g.group_out_channels() : g.group_in_channels();
  map.image = g.transposed ? g.out : g.in;
  map.positions = g.transposed ? g.in : g.out;
  map.kernel = g.kernel;
  map.stride = g.stride;
  map.padding = g.padding;
  map.dilation = g.dilation;
  return map;
}

std::int64_t ColumnMap::chunk() const {
  constexpr std::int64_t kElements = 1 << 18;
  const std::int64_t positions_ = std::max<std::int64_t>(volume(positions), 1);
  return std::clamp(kElements / std::max<std::int64_t>(rows(), 1), std::min<std::int64_t>(96, positions_), positions_);
}

template <typename T>
void image_to_columns(ThreadPool& threads, const ColumnMap& map, const T* image, std::int64_t begin, std::int64_t end,
                      T* columns) {
  const std::int64_t stride = map.stride[2];
  const auto rows = static_cast<std::size_t>(map.rows());
  const std::size_t grain = static_cast<std::size_t>(std::max<std::int64_t>(1, 32768 / (end - begin)));
  threads.parallel_for(rows, grain, [&](std::size_t first_row, std::size_t last_row) {
    for (auto row = static_cast<std::int64_t>(first_row); row < static_cast<std::int64_t>(last_row); ++row) {
      T* to = columns + row * (end - begin);
      for_each_line(map, row, begin, end, [&](std::int64_t from, std::int64_t at, std::int64_t length, Range range) {
        std::fill(to + at, to + at + range.first, T{0});
        const T* source = image + from;
        if (stride == 1 && range.last > range.first) {
          std::copy(source + range.first, source + range.last, to + at + range.first);
        } else {
          for (std::int64_t i = range.first; i < range.last; ++i)
            to[at + i] = source[i * stride];
        }
        std::fill(to + at + range.last, to + at + length, T{0});
      });
    }
  });
}

template <typename T>
void add_columns_to_image(ThreadPool& threads, const ColumnMap& map, const T* columns, std::int64_t begin,
                          std::int64_t end, T* image) {
  const std::int64_t stride = map.stride[2];
  const std::int64_t kernel = volume(map.kernel);
  // Rows of one channel add to the same elements, so that a channel is the unit of work.
  threads.parallel_for(static_cast<std::size_t>(map.channels), 1, [&](std::size_t first, std::size_t last) {
    for (auto row = static_cast<std::int64_t>(first) * kernel; row < static_cast<std::int64_t>(last) * kernel; ++row) {
      const T* from = columns + row * (end - begin);
      for_each_line(map, row, begin, end, [&](std::int64_t target, std::int64_t at, std::int64_t, Range range) {
        T* to = image + target;
        for (std::int64_t i = range.first; i < range.last; ++i) {
          to[i * stride] = wrap_add(to[i * stride], from[at + i]);
        }
      });
    }
  });
}

template <typename T>
Result<void> convolve(ExecuteContext& context, const ConvolutionGeometry& g, const T* input, const T* weight,
                      const T* bias, T* out) {
  const ColumnMap map = ColumnMap::of_group(g);
  PTERUN_ASSIGN(T * columns, allocate_columns<T>(context, map));
  fill_with_bias(g, bias, out);
  for (std::int64_t image = 0; image < g.batch; ++image) {
    const T* from = input + image * g.in_channels * volume(g.in);
    T* to = out + image * g.out_channels * volume(g.out);
    if (g.transposed) {
      fold_columns(*context.threads, map, g.groups, g.group_in_channels(), weight, from, to, columns);
    } else {
      multiply_columns(*context.threads, map, g.groups, g.group_out_channels(), weight, from, to, columns);
    }
  }
  return {};
}

template <typename T>
Result<void> convolve_backward_input(ExecuteContext& context, const ConvolutionGeometry& g, const T* grad_out,
                                     const T* weight, T* grad_input) {
  const ColumnMap map = ColumnMap::of_group(g);
  PTERUN_ASSIGN(T * columns, allocate_columns<T>(context, map));
  std::fill_n(grad_input, g.batch * g.in_channels * volume(g.in), T{0});
  for (std::int64_t image = 0; image < g.batch; ++image) {
    const T* from = grad_out + image * g.out_channels * volume(g.out);
    T* to = grad_input + image * g.in_channels * volume(g.in);
    if (g.transposed) {
      multiply_columns(*context.threads, map, g.groups, g.group_in_channels(), weight, from, to, columns);
    } else {
      fold_columns(*context.threads, map, g.groups, g.group_out_channels(), weight, from, to, columns);
    }
  }
  return {};
}

template <typename T>
Result<void> convolve_backward_weight(ExecuteContext& context, const ConvolutionGeometry& g, const T* input,
                                      const T* grad_out, T* grad_weight) {
  const ColumnMap map = ColumnMap::of_group(g);
  PTERUN_ASSIGN(T * columns, allocate_columns<T>(context, map));
  const std::int64_t positions = volume(map.positions);
  const std::int64_t rows = g.transposed ? g.group_in_channels() : g.group_out_channels();
  std::fill_n(grad_weight, g.groups * rows * map.rows(), T{0});
  for (std::int64_t image = 0; image < g.batch; ++image) {
    const T* in = input + image * g.in_channels * volume(g.in);
    const T* out = grad_out + image * g.out_channels * volume(g.out);
    const T* small = g.transposed ? in : out;
    const T* unrolled = g.transposed ? out : in;
    for_each_chunk(map, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t group = 0; group < g.groups; ++group) {
        image_to_columns(*context.threads, map, unrolled + group * map.channels * volume(map.image), begin, end,
                         columns);
        gemm_accumulate<T>(*context.threads, {rows, map.rows(), end - begin},
                           view_of(small + group * rows * positions + begin, positions, 1),
                           view_of(columns, 1, end - begin), grad_weight + group * rows * map.rows(), map.rows());
      }
    });
  }
  return {};
}

#define PTERUN_INSTANTIATE(T)                                                                                       \
  template Result<void> convolve<T>(ExecuteContext&, const ConvolutionGeometry&, const T*, const T*, const T*, T*); \
  template Result<void> convolve_backward_input<T>(ExecuteContext&, const ConvolutionGeometry&, const T*, const T*, \
                                                   T*);                                                             \
  template Result<void> convolve_backward_weight<T>(ExecuteContext&, const ConvolutionGeometry&, const T*, const T*, T*)
PTERUN_INSTANTIATE(float);
PTERUN_INSTANTIATE(double);
PTERUN_INSTANTIATE(std::int64_t);
#undef PTERUN_INSTANTIATE

}  // namespace pterun::operators
