// Shared checks of operator arguments.
#include "operators/checks.h"

#include <string>

namespace pterun::operators {
namespace {

std::string names_of(DTypeSet set) {
  std::string names;
  for (int number = 0; number <= static_cast<int>(DType::kUInt64); ++number) {
    const auto dtype = dtype_from_number(number);
    if (!dtype || !set.contains(*dtype)) continue;
    if (!names.empty()) names += ", ";
    names += dtype_name(*dtype);
  }
  return names;
}

}  // namespace

Result<void> check_dtype(const Arguments& arguments, const Tensor& tensor, DTypeSet supported, std::string_view what) {
  if (supported.contains(tensor.dtype())) return {};
  return fail(arguments.error(ErrorCode::kNotSupported, std::string(what) + " is " + tensor.describe() +
                                                            "; supported are " + names_of(supported)));
}

Result<void> check_dtype_is(const Arguments& arguments, const Tensor& tensor, DType expected, std::string_view what) {
  if (tensor.dtype() == expected) return {};
  return fail(arguments.error(ErrorCode::kInvalidArgument, std::string(what) + " is " + tensor.describe() +
                                                               ", expected " + std::string(dtype_name(expected))));
}

Result<void> check_rank(const Arguments& arguments, const Tensor& tensor, std::size_t rank, std::string_view what) {
  if (tensor.rank() == rank) return {};
  return fail(arguments.error(ErrorCode::kInvalidArgument, std::string(what) + " is " + tensor.describe() +
                                                               ", expected rank " + std::to_string(rank)));
}

Result<void> check_shape(const Arguments& arguments, const Tensor& tensor, const Shape& expected,
                         std::string_view what) {
  if (tensor.shape() == expected) return {};
  return fail(arguments.error(ErrorCode::kInvalidArgument, std::string(what) + " is " + tensor.describe() +
                                                               ", expected shape " + expected.to_string()));
}

}  // namespace pterun::operators
