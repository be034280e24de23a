// llama::gated_delta_rule: linear attention with a state in place of a cache of keys, token by token. Tensors are
// [batch, heads, tokens, size]; several query heads may read the state of one head of keys and values.
//
//   state = decay * state;   state += key (beta * (value - key state));   out = query state
#include <algorithm>
#include <utility>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/families/families.h"
#include "operators/output.h"

namespace pterun::operators {
namespace {

constexpr DTypeSet kDeltaDTypes = {DType::kFloat32};

struct DeltaRule {
  const Tensor* query = nullptr;
  const Tensor* key = nullptr;
  const Tensor* value = nullptr;
  const Tensor* decay = nullptr;  // a factor for each key channel, or one for each token
  const Tensor* beta = nullptr;
  const Tensor* initial_state = nullptr;
  Tensor* out = nullptr;
  Tensor* final_state = nullptr;
  std::int64_t batch = 0, query_heads = 0, heads = 0, tokens = 0, key_size = 0, value_size = 0;
  bool has_channel_decay = false;
};

Result<DeltaRule> read_call(const Arguments& arguments) {
  DeltaRule call;
  const std::pair<const Tensor**, const char*> inputs[] = {
      {&call.query, "query"}, {&call.key, "key"},   {&call.value, "value"},
      {&call.decay, "decay"}, {&call.beta, "beta"}, {&call.initial_state, "initial_state"}};
  for (std::size_t i = 0; i < std::size(inputs); ++i) {
    PTERUN_ASSIGN(*inputs[i].first, arguments.tensor(i));
    PTERUN_TRY(check_dtype(arguments, **inputs[i].first, kDeltaDTypes, inputs[i].second));
  }
  PTERUN_ASSIGN(call.out, arguments.tensor(6));
  PTERUN_ASSIGN(call.final_state, arguments.tensor(7));
  PTERUN_TRY(check_dtype_is(arguments, *call.out, DType::kFloat32, "out"));
  PTERUN_TRY(check_dtype_is(arguments, *call.final_state, DType::kFloat32, "final_state_out"));
  return call;
}

Result<void> measure(const Arguments& arguments, DeltaRule& call) {
  PTERUN_TRY(check_rank(arguments, *call.query, 4, "query"));
  PTERUN_TRY(check_rank(arguments, *call.value, 4, "value"));
  call.batch = call.query->size(0);
  call.query_heads = call.query->size(1);
  call.tokens = call.query->size(2);
  call.key_size = call.query->size(3);
  call.heads = call.value->size(1);
  call.value_size = call.value->size(3);
  if (call.heads == 0 || call.query_heads % call.heads != 0) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "the heads of query " + call.query->describe() +
                                                                 " are no multiple of those of value " +
                                                                 call.value->describe()));
  }
  const Shape each_token = {call.batch, call.heads, call.tokens};
  const Shape each_channel = {call.batch, call.heads, call.tokens, call.key_size};
  call.has_channel_decay = call.decay->rank() == 4;
  PTERUN_TRY(check_shape(arguments, *call.key, each_channel, "key"));
  PTERUN_TRY(check_shape(arguments, *call.value, {call.batch, call.heads, call.tokens, call.value_size}, "value"));
  PTERUN_TRY(check_shape(arguments, *call.decay, call.has_channel_decay ? each_channel : each_token, "decay"));
  PTERUN_TRY(check_shape(arguments, *call.beta, each_token, "beta"));
  return check_shape(arguments, *call.initial_state, {call.batch, call.heads, call.key_size, call.value_size},
                     "initial_state");
}

// Rows of one head of keys and values, and the first of its query heads.
struct Head {
  const float* query;
  const float* key;
  const float* value;
  const float* decay;
  const float* beta;
  float* state;  // [key_size, value_size]
  float* out;
};

// One token: the state forgets, learns, and is read by every query head. `change` has room for value_size numbers.
void step(const DeltaRule& call, const Head& head, std::int64_t token, float* change) {
  const std::int64_t keys = call.key_size;
  const std::int64_t values = call.value_size;
  const float* key = head.key + token * keys;
  std::fill_n(change, values, 0.0F);
  for (std::int64_t k = 0; k < keys; ++k) {
    const float decay = head.decay[call.has_channel_decay ? token * keys + k : token];
    float* row = head.state + k * values;
    for (std::int64_t v = 0; v < values; ++v) {
      row[v] *= decay;
      change[v] += row[v] * key[k];
    }
  }
  const float* value = head.value + token * values;
  for (std::int64_t v = 0; v < values; ++v)
    change[v] = (value[v] - change[v]) * head.beta[token];
  for (std::int64_t k = 0; k < keys; ++k) {
    float* row = head.state + k * values;
    for (std::int64_t v = 0; v < values; ++v)
      row[v] += key[k] * change[v];
  }
  for (std::int64_t q = 0; q < call.query_heads / call.heads; ++q) {
    const float* query = head.query + (q * call.tokens + token) * keys;
    float* out = head.out + (q * call.tokens + token) * values;
    std::fill_n(out, values, 0.0F);
    for (std::int64_t k = 0; k < keys; ++k) {
      const float* row = head.state + k * values;
      for (std::int64_t v = 0; v < values; ++v)
        out[v] += row[v] * query[k];
    }
  }
}

Result<void> gated_delta_rule(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(DeltaRule call, read_call(arguments));
  PTERUN_TRY(measure(arguments, call));
  PTERUN_TRY(resize_output(arguments, *call.out, {call.batch, call.query_heads, call.tokens, call.value_size}));
  PTERUN_TRY(resize_output(arguments, *call.final_state, call.initial_state->shape()));
  PTERUN_ASSIGN(const float* query, compute_input<float>(context, *call.query));
  PTERUN_ASSIGN(const float* key, compute_input<float>(context, *call.key));
  PTERUN_ASSIGN(const float* value, compute_input<float>(context, *call.value));
  PTERUN_ASSIGN(const float* decay, compute_input<float>(context, *call.decay));
  PTERUN_ASSIGN(const float* beta, compute_input<float>(context, *call.beta));
  PTERUN_ASSIGN(const float* initial, compute_input<float>(context, *call.initial_state));
  PTERUN_ASSIGN(ComputeOutput out, ComputeOutput::open(context, *call.out, Compute::kFloat));
  PTERUN_ASSIGN(ComputeOutput state, ComputeOutput::open(context, *call.final_state, Compute::kFloat));
  const auto all_heads = static_cast<std::size_t>(call.batch * call.heads);
  const auto row_bytes = static_cast<std::size_t>(call.value_size) * sizeof(float);
  PTERUN_ASSIGN(std::byte * changes, context.scratch->allocate(all_heads * row_bytes));
  std::copy_n(initial, call.initial_state->numel(), state.data<float>());
  const std::int64_t group = call.query_heads / call.heads * call.tokens;
  context.threads->parallel_for(all_heads, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const std::int64_t first = at * call.tokens;
      const Head head = {query + at * group * call.key_size,
                         key + first * call.key_size,
                         value + first * call.value_size,
                         decay + first * (call.has_channel_decay ? call.key_size : 1),
                         beta + first,
                         state.data<float>() + at * call.key_size * call.value_size,
                         out.data<float>() + at * group * call.value_size};
      auto* change = reinterpret_cast<float*>(changes + i * row_bytes);
      for (std::int64_t token = 0; token < call.tokens; ++token)
        step(call, head, token, change);
    }
  });
  PTERUN_TRY(out.store(context));
  return state.store(context);
}

constexpr OperatorRow kRows[] = {
    {"llama::gated_delta_rule.out", kDeltaDTypes, gated_delta_rule},
    {"llama::channelwise_gated_delta_rule.out", kDeltaDTypes, gated_delta_rule},  // an older name
};

}  // namespace

std::span<const OperatorRow> delta_rule_family() {
  return kRows;
}

}  // namespace pterun::operators
