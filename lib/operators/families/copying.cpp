// Operators that copy their first tensor, converting dtype and dim order to the output's: copy, clone, _to_copy and
// their relatives, the dim order operators, and the device copies, which on a CPU are plain copies.
#include "operators/complex_elementwise.h"
#include "operators/elementwise.h"
#include "operators/families/families.h"
#include "operators/output.h"

namespace pterun::operators {
namespace {

// (self, …, out at kOut): the output's dtype and dim order were chosen at export.
template <std::size_t kOut>
Result<void> copy_self_out(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* out, arguments.tensor(kOut));
  PTERUN_TRY(check_dtype(arguments, kOut, *out, kAnyDType));
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kAnyDType));
  PTERUN_TRY(call.set_output(kOut, out->dtype()));
  call.convert();
  return {};
}

Result<void> conj_physical_out(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_TRY(copy_self_out<1>(context, arguments));
  conjugate(**arguments.tensor(1));
  return {};
}

// (self, src, non_blocking, out): src broadcast to the shape of self and converted to self's dtype.
Result<void> copy_out(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* self, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(3));
  PTERUN_TRY(check_dtype(arguments, 0, *self, kAnyDType));
  PTERUN_TRY(check_output_dtype(arguments, self->dtype(), *out));
  PTERUN_TRY(resize_output(arguments, *out, self->shape()));
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(1, kAnyDType));
  PTERUN_TRY(call.set_inplace_output(*out, out->dtype()));
  call.convert();
  return {};
}

// (self, src, non_blocking) in place.
Result<void> copy_inplace(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(Tensor * self, arguments.tensor(0));
  PTERUN_TRY(check_dtype(arguments, 0, *self, kAnyDType));
  if (self->is_constant()) return fail(arguments.error(ErrorCode::kInvalidArgument, "a constant cannot be written"));
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(1, kAnyDType));
  PTERUN_TRY(call.set_inplace_output(*self, self->dtype()));
  call.convert();
  return {};
}

const OperatorRow kRows[] = {
    {.name = "aten::copy.out", .dtypes = kAnyDType, .function = copy_out},
    {.name = "aten::copy_", .dtypes = kAnyDType, .function = copy_inplace},
    {.name = "aten::clone.out", .dtypes = kAnyDType, .function = copy_self_out<2>},
    {.name = "aten::_to_copy.out", .dtypes = kAnyDType, .function = copy_self_out<3>},
    {.name = "aten::alias_copy.out", .dtypes = kAnyDType, .function = copy_self_out<1>},
    {.name = "aten::detach_copy.out", .dtypes = kAnyDType, .function = copy_self_out<1>},
    {.name = "aten::lift_fresh_copy.out", .dtypes = kAnyDType, .function = copy_self_out<1>},
    {.name = "aten::_conj_physical.out", .dtypes = kAnyDType, .function = conj_physical_out},
    {.name = "dim_order_ops::_to_dim_order_copy.out", .dtypes = kAnyDType, .function = copy_self_out<3>},
    {.name = "dim_order_ops::_clone_dim_order.out", .dtypes = kAnyDType, .function = copy_self_out<3>},
    {.name = "et_copy::_h2d_copy.out", .dtypes = kAnyDType, .function = copy_self_out<1>},
    {.name = "et_copy::_d2h_copy.out", .dtypes = kAnyDType, .function = copy_self_out<1>},
};

}  // namespace

std::span<const OperatorRow> copying_family() {
  return kRows;
}

}  // namespace pterun::operators
