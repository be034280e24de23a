// Elementwise operators: operands are broadcast and converted block by block to compute types, a plain loop runs over
// contiguous arrays, and its results are converted to the output's dtype. What needs no conversion is used in place.
//
//   Elementwise call(context, arguments);
//   PTERUN_TRY(call.add_tensor(0));
//   PTERUN_TRY(call.add_tensor(1));
//   const DType common = call.promoted();
//   PTERUN_TRY(call.set_output(2, common));
//   visit_compute(common, [&]<typename T>() { call.map<T(T, T)>(common, [](T a, T b) { return wrap_add(a, b); }); });
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include "operators/dtype_dispatch.h"
#include "operators/operator.h"
#include "operators/promotion.h"
#include "operators/vector_target.h"

namespace pterun::operators {

// One block: `in` points to one array for each operand.
using BlockLoop = void (*)(const void* op, void* out, const void* const* in, std::size_t count);

class Elementwise {
 public:
  static constexpr std::size_t kMaxOperands = 4;
  Elementwise(ExecuteContext& context, const Arguments& arguments) : context_(context), arguments_(arguments) {}

  // Operands, in the order in which the loop takes them. A number takes part in promotion like a Python number.
  Result<void> add_tensor(std::size_t argument, DTypeSet allowed = kAllDTypes);
  Result<void> add_scalar(std::size_t argument);
  void add_number(const Scalar& number);
  // A tensor that broadcasts but does not take part in promotion: a condition, a mask.
  Result<void> add_unpromoted(std::size_t argument, DTypeSet allowed = kAllDTypes);
  // Keeps numbers and 0-d operands in the compute type instead of rounding them to the common dtype, as eager's
  // add, sub, mul and div do for float16 and bfloat16.
  void keep_scalars_exact() { exact_scalars_ = true; }

  DType promoted() const { return promotion_.result(); }
  // The broadcast shape of the operands so far. Errors: kInvalidArgument naming both shapes.
  Result<Shape> broadcast() const;

  // Checks that a result of that dtype may be written to the output and gives the output the broadcast shape.
  Result<void> set_output(std::size_t argument, DType result);
  // The same without resizing: the operands must broadcast to the output's own shape (in-place operators).
  Result<void> set_inplace_output(Tensor& out, DType result);

  // Runs `op` over all elements, on several threads where that pays. `common` is the dtype that operands are rounded
  // to before they reach their compute type; Truth operands are taken as "!= 0".
  template <typename Signature, typename Op>
  void map(DType common, const Op& op) {
    map_targets<Signature, false>(common, op);
  }
  // For ops with much arithmetic an element: compiled for AVX-512 as well.
  template <typename Signature, typename Op>
  void map_heavy(DType common, const Op& op) {
    map_targets<Signature, true>(common, op);
  }
  // Converts the only operand to the output's dtype, complex ones too.
  void convert();

 private:
  // A tensor, or a number kept as one element of float64, int64 or bool.
  struct Operand {
    const Tensor* tensor = nullptr;
    DType dtype = DType::kFloat32;
    alignas(8) std::array<std::byte, 8> number{};
  };
  struct Source;
  class BlockDriver;

  using Computes = std::array<Compute, kMaxOperands>;

  Source make_source(const Operand& operand, DType common, Compute compute) const;
  BlockDriver make_driver(DType common, const Computes& operands) const;
  void drive(const BlockDriver& driver);

  template <typename Signature, bool kHeavy, typename Op>
  void map_targets(DType common, const Op& op);
  void run(DType common, const Computes& operands, Compute result, BlockLoop loop, const void* op);

  ExecuteContext& context_;
  const Arguments& arguments_;
  std::array<Operand, kMaxOperands> operands_;
  std::size_t count_ = 0;
  Promotion promotion_;
  bool exact_scalars_ = false;
  Tensor* out_ = nullptr;
  DType result_ = DType::kFloat32;
};

namespace detail {

template <typename Signature>
struct BlockLoops;

template <typename Out, typename... In>
struct BlockLoops<Out(In...)> {
  static constexpr Compute kResult = kComputeOf<Out>;
  static constexpr std::array<Compute, Elementwise::kMaxOperands> kOperands{kComputeOf<In>...};

  template <typename Op, std::size_t... I>
  [[gnu::always_inline]] static inline void loop(const void* op, void* out, const void* const* in, std::size_t count,
                                                 std::index_sequence<I...>) {
    const Op local = *static_cast<const Op*>(op);  // stores to `out` cannot change it
    Out* const results = static_cast<Out*>(out);
    const std::tuple<const In*...> arrays{static_cast<const In*>(in[I])...};
    PTERUN_INDEPENDENT
    for (std::size_t i = 0; i < count; ++i)
      results[i] = static_cast<Out>(local(std::get<I>(arrays)[i]...));
  }
  template <typename Op>
  static void base(const void* op, void* out, const void* const* in, std::size_t count) {
    loop<Op>(op, out, in, count, std::index_sequence_for<In...>());
  }
  template <typename Op>
  PTERUN_TARGET_AVX2 static void avx2(const void* op, void* out, const void* const* in, std::size_t count) {
    loop<Op>(op, out, in, count, std::index_sequence_for<In...>());
  }
  template <typename Op>
  PTERUN_TARGET_AVX512 static void avx512(const void* op, void* out, const void* const* in, std::size_t count) {
    loop<Op>(op, out, in, count, std::index_sequence_for<In...>());
  }
};

}  // namespace detail

template <typename Signature, bool kHeavy, typename Op>
void Elementwise::map_targets(DType common, const Op& op) {
  using Loops = detail::BlockLoops<Signature>;
  const VectorTarget target = vector_target();
  BlockLoop loop = target == VectorTarget::kBase ? &Loops::template base<Op> : &Loops::template avx2<Op>;
  if constexpr (kHeavy) {
    if (target == VectorTarget::kAvx512) loop = &Loops::template avx512<Op>;
  }
  run(common, Loops::kOperands, Loops::kResult, loop, &op);
}

}  // namespace pterun::operators
