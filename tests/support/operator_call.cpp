// Calling one operator by name in a test.
#include "support/operator_call.h"

#include <cstring>

#include "operators/dtype_dispatch.h"
#include "operators/families/families.h"

namespace pterun::test {
namespace {

// Row-major index -> offset of the element in memory, for every element in row-major order.
template <typename Body>
void for_each_offset(const Tensor& tensor, const Body& body) {
  const Strides strides = tensor.strides();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    std::int64_t rest = i;
    std::int64_t offset = 0;
    for (std::size_t dim = tensor.rank(); dim-- > 0;) {
      offset += rest % tensor.size(dim) * strides[dim];
      rest /= tensor.size(dim);
    }
    body(static_cast<std::size_t>(i), static_cast<std::size_t>(offset) * dtype_size(tensor.dtype()));
  }
}

template <typename T>
std::vector<T> elements(const Tensor& tensor) {
  std::vector<T> values(static_cast<std::size_t>(tensor.numel()));
  const auto* data = static_cast<const std::byte*>(tensor.raw_data());
  for_each_offset(tensor, [&](std::size_t i, std::size_t offset) {
    values[i] = operators::load_one<T>(tensor.dtype(), data + offset);
  });
  return values;
}

template <typename T>
HostTensor filled(DType dtype, const Shape& shape, const DimOrder& order, const std::vector<T>& values) {
  HostTensor tensor = HostTensor::allocate(dtype, shape, order).value();
  auto* data = static_cast<std::byte*>(tensor.view().mutable_raw_data());
  for_each_offset(tensor.view(), [&](std::size_t i, std::size_t offset) {
    operators::store_one<T>(dtype, values.at(i), data + offset);
  });
  return tensor;
}

}  // namespace

HostTensor make_tensor(DType dtype, const Shape& shape, const std::vector<double>& values) {
  return filled(dtype, shape, DimOrder::contiguous(shape.rank()), values);
}

HostTensor make_tensor(DType dtype, const Shape& shape, const DimOrder& order, const std::vector<double>& values) {
  return filled(dtype, shape, order, values);
}

HostTensor make_int64(const Shape& shape, const std::vector<std::int64_t>& values) {
  return filled(DType::kInt64, shape, DimOrder::contiguous(shape.rank()), values);
}

HostTensor make_output(DType dtype, const Shape& shape) {
  return make_output(dtype, shape, DimOrder::contiguous(shape.rank()));
}

HostTensor make_output(DType dtype, const Shape& shape, const DimOrder& order) {
  HostTensor tensor = HostTensor::allocate(dtype, shape, order).value();
  std::memset(tensor.view().mutable_raw_data(), 0xA5, tensor.view().nbytes());
  return tensor;
}

HostTensor make_dynamic_output(DType dtype, const Shape& bound) {
  HostTensor tensor = make_output(dtype, bound);
  tensor.view().mark_dynamic();
  return tensor;
}

std::vector<double> values_of(const Tensor& tensor) {
  return elements<double>(tensor);
}

std::vector<double> values_of(const HostTensor& tensor) {
  return values_of(tensor.view());
}

std::vector<std::int64_t> int64_values_of(const HostTensor& tensor) {
  return elements<std::int64_t>(tensor.view());
}

OperatorCall::OperatorCall(std::string_view name, std::size_t threads) : name_(name), threads_(threads) {}

OperatorCall::~OperatorCall() = default;

Value& OperatorCall::add(Value::Payload payload) {
  return values_.emplace_back(std::move(payload));
}

OperatorCall& OperatorCall::tensor(HostTensor& tensor) {
  return this->tensor(tensor.view());
}

OperatorCall& OperatorCall::tensor(Tensor& tensor) {
  arguments_.push_back(&add(&tensor));
  return *this;
}

OperatorCall& OperatorCall::none() {
  arguments_.push_back(&add({}));
  return *this;
}

OperatorCall& OperatorCall::integer(std::int64_t value) {
  arguments_.push_back(&add(value));
  return *this;
}

OperatorCall& OperatorCall::number(double value) {
  arguments_.push_back(&add(value));
  return *this;
}

OperatorCall& OperatorCall::boolean(bool value) {
  arguments_.push_back(&add(value));
  return *this;
}

OperatorCall& OperatorCall::string(std::string value) {
  arguments_.push_back(&add(std::move(value)));
  return *this;
}

OperatorCall& OperatorCall::dtype(DType value) {
  return integer(static_cast<std::int64_t>(value));
}

OperatorCall& OperatorCall::integers(const std::vector<std::int64_t>& values) {
  IntList list;
  for (const std::int64_t value : values)
    list.items.push_back(&add(value));
  arguments_.push_back(&add(std::move(list)));
  return *this;
}

OperatorCall& OperatorCall::numbers(const std::vector<double>& values) {
  arguments_.push_back(&add(DoubleList{values}));
  return *this;
}

OperatorCall& OperatorCall::booleans(const std::vector<bool>& values) {
  arguments_.push_back(&add(BoolList{values}));
  return *this;
}

OperatorCall& OperatorCall::tensors(const std::vector<HostTensor*>& tensors) {
  TensorList list;
  for (HostTensor* tensor : tensors)
    list.items.push_back(&add(&tensor->view()));
  arguments_.push_back(&add(std::move(list)));
  return *this;
}

OperatorCall& OperatorCall::optional_tensors(const std::vector<HostTensor*>& tensors) {
  OptionalTensorList list;
  for (HostTensor* tensor : tensors)
    list.items.push_back(tensor == nullptr ? nullptr : &add(&tensor->view()));
  arguments_.push_back(&add(std::move(list)));
  return *this;
}

Result<void> OperatorCall::run() {
  static const operators::OperatorRegistry registry = operators::make_operator_registry();
  const operators::OperatorRow* row = registry.find(name_);
  if (row == nullptr) return fail(ErrorCode::kOperatorMissing, "no operator " + name_);
  const operators::Arguments arguments(row->name, arguments_);
  if (!kernel_) {
    operators::PrepareContext context{.threads = &threads_, .log = &log_};
    PTERUN_ASSIGN(kernel_, operators::prepare_kernel(*row, context, arguments));
  }
  operators::ExecuteContext context{.threads = &threads_, .scratch = &scratch_};
  scratch_.reset();
  return kernel_->execute(context, arguments);
}

}  // namespace pterun::test
