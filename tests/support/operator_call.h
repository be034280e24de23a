// Calling one operator by name in a test: tensors from plain numbers, arguments in schema order, outputs as numbers.
//
//   HostTensor a = make_tensor(DType::kInt8, {2, 2}, {1, 2, 3, 4});
//   HostTensor out = make_output(DType::kInt8, {2, 2});
//   REQUIRE_RESULT(OperatorCall("aten::add.out").tensor(a).tensor(a).integer(1).tensor(out).run());
//   CHECK(values_of(out) == std::vector<double>{2, 4, 6, 8});
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operators/operator.h"
#include "tensor/tensor.h"
#include "tensor/value.h"

// Fails the test with the error's text. For use where Catch2 is included.
#define REQUIRE_RESULT(expression)                                         \
  do {                                                                     \
    const auto pterun_test_result = (expression);                          \
    if (!pterun_test_result) FAIL(pterun_test_result.error().to_string()); \
  } while (false)

namespace pterun::test {

// A tensor of `values` given in row-major order (rounded to the dtype as eager would), laid out in `order`.
HostTensor make_tensor(DType dtype, const Shape& shape, const std::vector<double>& values);
HostTensor make_tensor(DType dtype, const Shape& shape, const DimOrder& order, const std::vector<double>& values);
// int64 values beyond 2^53.
HostTensor make_int64(const Shape& shape, const std::vector<std::int64_t>& values);
// An output of that shape, filled with a pattern that no right answer leaves behind.
HostTensor make_output(DType dtype, const Shape& shape);
HostTensor make_output(DType dtype, const Shape& shape, const DimOrder& order);
// An output whose shape is dynamic, up to `bound`.
HostTensor make_dynamic_output(DType dtype, const Shape& bound);

// Elements in row-major order, whatever the dim order.
std::vector<double> values_of(const Tensor& tensor);
std::vector<double> values_of(const HostTensor& tensor);
std::vector<std::int64_t> int64_values_of(const HostTensor& tensor);

class OperatorCall {
 public:
  explicit OperatorCall(std::string_view name, std::size_t threads = 1);
  ~OperatorCall();

  // Appends an argument. Tensors are borrowed.
  OperatorCall& tensor(HostTensor& tensor);
  OperatorCall& tensor(Tensor& tensor);
  OperatorCall& none();
  OperatorCall& integer(std::int64_t value);
  OperatorCall& number(double value);
  OperatorCall& boolean(bool value);
  OperatorCall& string(std::string value);
  OperatorCall& dtype(DType value);
  OperatorCall& integers(const std::vector<std::int64_t>& values);
  OperatorCall& numbers(const std::vector<double>& values);
  OperatorCall& booleans(const std::vector<bool>& values);
  OperatorCall& tensors(const std::vector<HostTensor*>& tensors);
  OperatorCall& optional_tensors(const std::vector<HostTensor*>& tensors);  // null items are None

  // Prepares (once) and executes the call. Errors: kOperatorMissing, and those of the operator.
  Result<void> run();
  // The argument's slot after run(), for outputs that are numbers.
  const Value& slot(std::size_t i) const { return *arguments_[i]; }

 private:
  Value& add(Value::Payload payload);

  std::string name_;
  ThreadPool threads_;
  CollectingLog log_;
  operators::Scratch scratch_;
  std::deque<Value> values_;  // stable addresses
  std::vector<Value*> arguments_;
  std::unique_ptr<operators::Kernel> kernel_;
};

}  // namespace pterun::test
