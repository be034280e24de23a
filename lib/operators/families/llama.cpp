// llama:: operators of exported decoders: key-value caches and attention over them. Tensors are
// [batch, sequence, heads, head dim].
#include <algorithm>
#include <cmath>
#include <cstring>

#include "operators/attention.h"
#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/dims.h"
#include "operators/families/families.h"
#include "operators/output.h"

namespace pterun::operators {
namespace {

constexpr DTypeSet kSdpaDTypes = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
constexpr DTypeSet kQuantizedSdpaDTypes = {DType::kInt8};

Result<void> check_cache(const Arguments& arguments, const Tensor& value, const Tensor& cache) {
  PTERUN_TRY(check_rank(arguments, value, 4, "value"));
  PTERUN_TRY(check_rank(arguments, cache, 4, "cache"));
  PTERUN_TRY(check_dtype_is(arguments, value, cache.dtype(), "value"));
  if (value.size(0) != cache.size(0) || value.size(2) != cache.size(2) || value.size(3) != cache.size(3) ||
      !cache.is_row_major()) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "value " + value.describe() + " does not fit cache " + cache.describe()));
  }
  return {};
}

Error outside_cache(const Arguments& arguments, std::int64_t position, const Tensor& cache) {
  return arguments.error(ErrorCode::kInvalidArgument,
                         "position " + std::to_string(position) + " is outside cache " + cache.describe());
}

// cache[:, start + i] = value[:, i]
Result<void> write_cache(ExecuteContext& context, const Arguments& arguments, const Tensor& value, Tensor& cache,
                         std::int64_t start) {
  PTERUN_TRY(check_cache(arguments, value, cache));
  const std::int64_t rows = value.size(1);
  if (start < 0 || start > cache.size(1) || rows > cache.size(1) - start) {
    return fail(outside_cache(arguments, start + rows - 1, cache));
  }
  if (value.numel() == 0) return {};
  PTERUN_ASSIGN(const std::byte* from, row_major_elements(context, value));
  const std::size_t row_bytes = static_cast<std::size_t>(value.size(2) * value.size(3)) * dtype_size(value.dtype());
  const std::size_t bytes = static_cast<std::size_t>(rows) * row_bytes;
  for (std::int64_t batch = 0; batch < value.size(0); ++batch) {
    const auto at = static_cast<std::size_t>(batch * cache.size(1) + start) * row_bytes;
    std::memcpy(cache.mutable_data<std::byte>() + at, from + static_cast<std::size_t>(batch) * bytes, bytes);
  }
  return {};
}

Result<void> update_cache(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* value, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * cache, arguments.tensor(1));
  PTERUN_ASSIGN(const std::int64_t start, arguments.integer(2));
  return write_cache(context, arguments, *value, *cache, start);
}

// cache[b, indices[b, i]] = value[b, i]
Result<void> update_cache_with_indices(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* value, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * cache, arguments.tensor(1));
  PTERUN_ASSIGN(const Tensor* indices, arguments.tensor(3));
  PTERUN_TRY(check_cache(arguments, *value, *cache));
  PTERUN_TRY(check_dtype_is(arguments, *indices, DType::kInt64, "indices"));
  PTERUN_TRY(check_shape(arguments, *indices, {value->size(0), value->size(1)}, "indices"));
  PTERUN_ASSIGN(const std::int64_t* positions, compute_input<std::int64_t>(context, *indices));
  for (std::int64_t i = 0; i < indices->numel(); ++i) {
    if (positions[i] < 0 || positions[i] >= cache->size(1)) return fail(outside_cache(arguments, positions[i], *cache));
  }
  if (value->numel() == 0) return {};
  PTERUN_ASSIGN(const std::byte* from, row_major_elements(context, *value));
  const std::size_t row_bytes = static_cast<std::size_t>(value->size(2) * value->size(3)) * dtype_size(value->dtype());
  for (std::int64_t i = 0; i < indices->numel(); ++i) {
    const std::int64_t row = i / value->size(1) * cache->size(1) + positions[i];
    std::memcpy(cache->mutable_data<std::byte>() + static_cast<std::size_t>(row) * row_bytes,
                from + static_cast<std::size_t>(i) * row_bytes, row_bytes);
  }
  return {};
}

// What comes behind query, keys and values: start_pos, then at `mask` attn_mask, dropout, is_causal, scale.
struct SdpaOptions {
  std::int64_t start = 0;
  const Tensor* mask = nullptr;
  bool causal = false;
  std::optional<double> scale;
};

Result<SdpaOptions> read_options(const Arguments& arguments, std::size_t start, std::size_t mask) {
  SdpaOptions options;
  PTERUN_ASSIGN(options.start, arguments.integer(start));
  PTERUN_ASSIGN(options.mask, arguments.optional_tensor(mask));
  PTERUN_ASSIGN(options.causal, arguments.boolean(mask + 2));
  PTERUN_ASSIGN(options.scale, arguments.optional_number(mask + 3));
  if (options.mask != nullptr && options.causal) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "attn_mask and is_causal exclude each other"));
  }
  return options;
}

// Fills sizes and strides for tensors [batch, sequence, heads, dim], or [batch, heads, sequence, dim]. Without a mask,
// the cache counts up to the last query's position; with a mask, all of it.
Result<Attention> set_up(const Arguments& arguments, const Tensor& query, const Tensor& key, const Tensor& value,
                         const SdpaOptions& options, bool heads_first) {
  PTERUN_TRY(check_rank(arguments, query, 4, "query"));
  PTERUN_TRY(check_rank(arguments, key, 4, "key"));
  PTERUN_TRY(check_shape(arguments, value, key.shape(), "value"));
  const std::size_t sequence = heads_first ? 2 : 1;
  const std::size_t heads = heads_first ? 1 : 2;
  Attention attention;
  attention.batch = query.size(0);
  attention.heads = query.size(heads);
  attention.kv_heads = key.size(heads);
  attention.queries = query.size(sequence);
  attention.keys = key.size(sequence);
  attention.dim = query.size(3);
  attention.causal = options.causal;
  attention.first_position = options.start;
  if (key.size(0) != attention.batch || key.size(3) != attention.dim || attention.kv_heads < 1 ||
      attention.heads % attention.kv_heads != 0) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "query " + query.describe() + " does not fit key " + key.describe()));
  }
  if (options.start < 0 || options.start > attention.keys) return fail(outside_cache(arguments, options.start, key));
  if (options.mask != nullptr) {
    PTERUN_TRY(check_dtype(arguments, *options.mask, kSdpaDTypes, "attn_mask"));
    PTERUN_TRY(check_shape(arguments, *options.mask, {attention.queries, attention.keys}, "attn_mask"));
  } else if (attention.queries > attention.keys - options.start) {
    return fail(outside_cache(arguments, options.start + attention.queries - 1, key));
  } else {
    attention.keys = options.start + attention.queries;
  }
  attention.scale = static_cast<float>(options.scale.value_or(1.0 / std::sqrt(static_cast<double>(attention.dim))));
  const auto rows = [&](const Tensor& tensor) {
    const Strides strides = strides_of(tensor.shape(), DimOrder::contiguous(4));
    return HeadRows{nullptr, tensor.dtype(), strides[0], strides[heads], strides[sequence]};
  };
  attention.query = rows(query);
  attention.key = rows(key);
  attention.value = rows(value);
  attention.out_batch_stride = attention.query.batch_stride;
  attention.out_head_stride = attention.query.head_stride;
  attention.out_row_stride = attention.query.row_stride;
  return attention;
}

Result<void> run(ExecuteContext& context, const Arguments& arguments, const SdpaOptions& options, const Tensor& query,
                 Attention& attention, Tensor& out) {
  PTERUN_TRY(resize_output(arguments, out, query.shape()));
  if (out.numel() == 0) return {};
  if (options.mask != nullptr) {
    PTERUN_ASSIGN(attention.mask, compute_input<float>(context, *options.mask));
  }
  PTERUN_ASSIGN(ComputeOutput results, ComputeOutput::open(context, out, Compute::kFloat));
  attention.out = results.data<float>();
  PTERUN_TRY(attend(context, attention));
  return results.store(context);
}

Result<void> sdpa(ExecuteContext& context, const Arguments& arguments, const Tensor& key, const Tensor& value,
                  const SdpaOptions& options, std::size_t out_argument) {
  PTERUN_ASSIGN(const Tensor* query, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(out_argument));
  PTERUN_TRY(check_dtype(arguments, *query, kSdpaDTypes, "query"));
  PTERUN_TRY(check_dtype_is(arguments, key, query->dtype(), "key"));
  PTERUN_TRY(check_dtype_is(arguments, value, query->dtype(), "value"));
  PTERUN_TRY(check_dtype_is(arguments, *out, query->dtype(), "out"));
  PTERUN_ASSIGN(Attention attention, set_up(arguments, *query, key, value, options, false));
  PTERUN_ASSIGN(attention.query.data, row_major_elements(context, *query));
  PTERUN_ASSIGN(attention.key.data, row_major_elements(context, key));
  PTERUN_ASSIGN(attention.value.data, row_major_elements(context, value));
  return run(context, arguments, options, *query, attention, *out);
}

Result<void> custom_sdpa(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* key, arguments.tensor(1));
  PTERUN_ASSIGN(const Tensor* value, arguments.tensor(2));
  PTERUN_ASSIGN(const SdpaOptions options, read_options(arguments, 3, 4));
  return sdpa(context, arguments, *key, *value, options, 8);
}

Result<void> sdpa_with_kv_cache(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* key, arguments.tensor(1));
  PTERUN_ASSIGN(const Tensor* value, arguments.tensor(2));
  PTERUN_ASSIGN(Tensor * key_cache, arguments.tensor(3));
  PTERUN_ASSIGN(Tensor * value_cache, arguments.tensor(4));
  PTERUN_ASSIGN(const SdpaOptions options, read_options(arguments, 5, 7));
  PTERUN_TRY(check_cache(arguments, *value, *value_cache));
  PTERUN_TRY(write_cache(context, arguments, *key, *key_cache, options.start));
  PTERUN_TRY(write_cache(context, arguments, *value, *value_cache, options.start));
  return sdpa(context, arguments, *key_cache, *value_cache, options, 11);
}

// (element - zero) * scale, with one of each for every row of the last dimension.
Result<const float*> dequantize_rows(ExecuteContext& context, const Arguments& arguments, const Tensor& tensor,
                                     std::size_t zeros_argument, std::string_view what) {
  PTERUN_ASSIGN(const Tensor* zeros, arguments.tensor(zeros_argument));
  PTERUN_ASSIGN(const Tensor* scales, arguments.tensor(zeros_argument + 1));
  const std::int64_t columns = std::max<std::int64_t>(tensor.size(3), 1);
  const std::int64_t rows = tensor.numel() / columns;
  PTERUN_TRY(check_dtype(arguments, *zeros, kIntegers, "zero points"));
  PTERUN_TRY(check_dtype(arguments, *scales, kFloats, "scales"));
  if (zeros->numel() != rows || scales->numel() != rows) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, std::string(what) + " " + tensor.describe() +
                                                                 " needs a scale and a zero point for each row"));
  }
  PTERUN_ASSIGN(const float* elements, compute_input<float>(context, tensor));
  PTERUN_ASSIGN(const float* zero, compute_input<float>(context, *zeros));
  PTERUN_ASSIGN(const float* scale, compute_input<float>(context, *scales));
  PTERUN_ASSIGN(std::byte * memory,
                context.scratch->allocate(static_cast<std::size_t>(tensor.numel()) * sizeof(float)));
  auto* values = reinterpret_cast<float*>(memory);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = row * columns; i < (row + 1) * columns; ++i) {
      values[i] = (elements[i] - zero[row]) * scale[row];
    }
  }
  return values;
}

Result<void> custom_quantized_sdpa(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* query, arguments.tensor(0));
  PTERUN_ASSIGN(const Tensor* key, arguments.tensor(1));
  PTERUN_ASSIGN(const Tensor* value, arguments.tensor(2));
  PTERUN_ASSIGN(const SdpaOptions options, read_options(arguments, 3, 4));
  PTERUN_ASSIGN(const bool heads_first, arguments.boolean(14));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(15));
  PTERUN_TRY(check_dtype(arguments, *query, kQuantizedSdpaDTypes, "query"));
  PTERUN_TRY(check_dtype(arguments, *key, kQuantizedSdpaDTypes, "key"));
  PTERUN_TRY(check_dtype(arguments, *value, kQuantizedSdpaDTypes, "value"));
  PTERUN_TRY(check_dtype_is(arguments, *out, DType::kFloat32, "out"));
  PTERUN_ASSIGN(Attention attention, set_up(arguments, *query, *key, *value, options, heads_first));
  PTERUN_ASSIGN(attention.query.data, dequantize_rows(context, arguments, *query, 8, "query"));
  PTERUN_ASSIGN(attention.key.data, dequantize_rows(context, arguments, *key, 10, "key"));
  PTERUN_ASSIGN(attention.value.data, dequantize_rows(context, arguments, *value, 12, "value"));
  attention.query.dtype = attention.key.dtype = attention.value.dtype = DType::kFloat32;
  return run(context, arguments, options, *query, attention, *out);
}

// What is left where a delegate did not take a part: a copy.
Result<void> fallback(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(1));
  return copy_view(context, arguments, *input, View(*input), *out);
}

constexpr OperatorRow kRows[] = {
    {"llama::sdpa_with_kv_cache.out", kSdpaDTypes, sdpa_with_kv_cache},
    {"llama::custom_sdpa.out", kSdpaDTypes, custom_sdpa},
    {"llama::custom_quantized_sdpa.out", kQuantizedSdpaDTypes, custom_quantized_sdpa},
    {"llama::update_cache.out", kAllDTypes, update_cache},
    {"llama::update_cache_with_indices.out", kAllDTypes, update_cache_with_indices},
    {"llama::fallback.out", kAllDTypes, fallback},
};

}  // namespace

std::span<const OperatorRow> llama_family() {
  return kRows;
}

}  // namespace pterun::operators
