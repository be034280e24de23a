// Giving an output its shape.
#include "operators/output.h"

namespace pterun::operators {

Result<void> resize_output(const Arguments& arguments, Tensor& out, const Shape& shape) {
  if (out.is_constant()) {
    return fail(arguments.error(ErrorCode::kInvalidProgram, "a constant cannot be an output"));
  }
  if (out.shape() == shape) return {};
  auto resized = out.resize(shape);
  if (resized) return {};
  const Error& cause = resized.error();
  return fail(arguments.error(cause.code, "the output cannot become " + shape.to_string() + ": " + cause.message));
}

}  // namespace pterun::operators
