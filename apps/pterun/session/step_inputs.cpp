// Finding a value for every input of a method.
#include "pterun/session/step_inputs.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "tensor/generate.h"
#include "tensor/io/raw.h"
#include "tensor/io/tensor_file.h"

namespace pterun::app {
namespace {

using runtime::IoSpec;

Error input_error(std::size_t index, std::string message) {
  return make_error(ErrorCode::kInput, fmt::format("input {}: {}", index, message)).at("input", std::to_string(index));
}

std::optional<std::size_t> index_of(const std::string& text) {
  std::size_t index = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), index);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return index;
}

// "0 float32[1, 3], 1 int 5": what a method takes, for errors.
std::string takes_text(const runtime::Method& method) {
  if (method.inputs().empty()) return "no inputs";
  std::string text;
  for (std::size_t i = 0; i < method.inputs().size(); ++i) {
    text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", i, method.inputs()[i].describe());
  }
  return text;
}

Result<std::size_t> target_index(const std::string& target, const runtime::Method& method,
                                 const config::Origin& origin) {
  const auto index = index_of(target);
  if (index && *index < method.inputs().size()) return *index;
  return fail(make_error(ErrorCode::kInput, fmt::format("method '{}' has no input '{}'; it takes {}", method.name(),
                                                        target, takes_text(method)))
                  .at("source", origin.describe())
                  .with_hint("inputs are named by their index, from 0"));
}

// Numbers come as 0-d (or one-element) arrays.
Result<Value> number_of(std::size_t index, const Tensor& tensor) {
  if (tensor.numel() == 1) {
    switch (tensor.dtype()) {
      case DType::kInt64: return Value(*tensor.data<std::int64_t>());
      case DType::kInt32: return Value(std::int64_t{*tensor.data<std::int32_t>()});
      case DType::kFloat64: return Value(*tensor.data<double>());
      case DType::kFloat32: return Value(static_cast<double>(*tensor.data<float>()));
      case DType::kBool: return Value(*tensor.data<bool>());
      default: break;
    }
  }
  return fail(input_error(index, "given " + tensor.describe() + ", a number is needed: a 0-d int64, float64 or bool"));
}

class Resolver {
 public:
  Resolver(const config::StepPlan& step, const runtime::Method& method, std::uint64_t seed)
      : step_(step), method_(method), seed_(seed), found_(method.inputs().size()) {
    result_.inputs.resize(method.inputs().size());
  }

  Result<StepInputs> resolve(const program::BundledProgram* bundle, std::size_t bundled_case) {
    PTERUN_TRY(read_shapes());
    PTERUN_TRY(check_dim_orders());
    if (!step_.inputs_file.value.empty()) PTERUN_TRY(from_file());
    PTERUN_TRY(from_flags());
    if (bundle != nullptr && !any_given_) PTERUN_TRY(from_bundle(*bundle, bundled_case));
    PTERUN_TRY(fill_rest());
    return std::move(result_);
  }

 private:
  Result<void> read_shapes() {
    for (const config::ShapePlan& shape : step_.shapes) {
      PTERUN_ASSIGN(const std::size_t index, target_index(shape.target, method_, shape.origin));
      const IoSpec& spec = method_.inputs()[index];
      if (spec.kind != IoSpec::Kind::kTensor) {
        return fail(
            input_error(index, "it is " + spec.describe() + " and has no shape").at("source", shape.origin.describe()));
      }
      shapes_[index] = Shape(std::span(shape.sizes));
    }
    return {};
  }

  // An input stated to be laid out in some order is read into that order; the method's own order may differ.
  Result<void> check_dim_orders() {
    for (const config::DimOrderPlan& plan : step_.input_dim_orders) {
      PTERUN_ASSIGN(const std::size_t index, target_index(plan.target, method_, plan.origin));
      const auto order = DimOrder::from(plan.order);
      const IoSpec& spec = method_.inputs()[index];
      if (!order || spec.kind != IoSpec::Kind::kTensor || order->rank() != spec.sizes.rank()) {
        return fail(
            input_error(index, fmt::format("dim order {} does not fit {}", fmt::join(plan.order, ","), spec.describe()))
                .at("source", plan.origin.describe()));
      }
      orders_[index] = *order;
    }
    return {};
  }

  Result<void> from_file() {
    const std::string& path = *step_.inputs_file;
    PTERUN_ASSIGN(std::vector<io::PositionedTensor> tensors, io::read_positioned_tensors(path));
    result_.files.push_back(path);
    any_given_ = true;
    // None has no entry and is not counted.
    std::vector<std::size_t> counted;
    for (std::size_t i = 0; i < method_.inputs().size(); ++i) {
      if (method_.inputs()[i].kind != IoSpec::Kind::kNone) counted.push_back(i);
    }
    for (io::PositionedTensor& tensor : tensors) {
      if (tensor.position >= counted.size()) {
        return fail(
            make_error(ErrorCode::kInput, fmt::format("'{}' holds '{}' for position {}, method '{}' takes {}", path,
                                                      tensor.key, tensor.position, method_.name(), takes_text(method_)))
                .at("file", path));
      }
      PTERUN_TRY(place(counted[tensor.position], std::move(tensor.tensor), path + ":" + tensor.key));
    }
    return {};
  }

  Result<void> from_flags() {
    std::size_t next = 0;
    for (const config::InputPlan& input : step_.inputs) {
      std::size_t index = next;
      if (!input.target.empty()) {
        PTERUN_ASSIGN(index, target_index(input.target, method_, input.origin));
      } else if (index >= method_.inputs().size()) {
        return fail(make_error(ErrorCode::kInput, fmt::format("'{}' is one input too many: method '{}' takes {}",
                                                              input.spec, method_.name(), takes_text(method_)))
                        .at("source", input.origin.describe()));
      }
      next = index + 1;
      any_given_ = true;
      auto placed = from_spec(index, input);
      if (!placed) return fail(std::move(placed).error().at("source", input.origin.describe()));
    }
    return {};
  }

  Result<void> from_spec(std::size_t index, const config::InputPlan& input) {
    const IoSpec& spec = method_.inputs()[index];
    if (is_generator(input.spec)) {
      PTERUN_ASSIGN(const Generator generator, parse_generator(input.spec));
      return generate_input(index, generator, input.seed.value_or(seed_));
    }
    const std::string& path = input.spec;
    if (path.ends_with(".bin") || path.ends_with(".raw")) {
      if (spec.kind != IoSpec::Kind::kTensor)
        return fail(input_error(index, "a raw file can only fill a tensor, this is " + spec.describe()));
      if (!spec.dim_order.is_contiguous() && !orders_.contains(index)) {
        return fail(
            input_error(
                index, fmt::format(
                           "'{}' has no layout of its own and the method takes {}: the order of its bytes is ambiguous",
                           path, spec.describe()))
                .with_hint("state it with --input-dim-order INDEX=0,1,2,3 (or another order)"));
      }
      PTERUN_ASSIGN(HostTensor tensor, read_laid_out(index, path));
      result_.files.push_back(path);
      return place(index, std::move(tensor), path);
    }
    PTERUN_ASSIGN(io::SelectedTensor selected, io::read_one_tensor(path));
    result_.files.push_back(selected.path);
    return place(index, std::move(selected.tensor), path);
  }

  // The bytes of a raw file, in the dim order that was stated for the input.
  Result<HostTensor> read_laid_out(std::size_t index, const std::string& path) {
    const Shape shape = shape_of(index);
    PTERUN_ASSIGN(HostTensor raw, io::read_raw(path, method_.inputs()[index].dtype, shape));
    const auto order = orders_.find(index);
    if (order == orders_.end() || order->second.rank() != shape.rank()) return raw;
    return HostTensor::row_major_copy(Tensor(raw.view().dtype(), shape, order->second, raw.view().mutable_raw_data()));
  }

  Result<void> from_bundle(const program::BundledProgram& bundle, std::size_t bundled_case) {
    const program::BundledSuite* suite = bundle.find_suite(method_.name());
    if (suite == nullptr || bundled_case >= suite->cases.size()) {
      return fail(
          make_error(ErrorCode::kInput,
                     fmt::format("the bundled program holds {} test cases for method '{}', case {} was asked for",
                                 suite == nullptr ? 0 : suite->cases.size(), method_.name(), bundled_case))
              .with_hint("choose one with --case N"));
    }
    const auto& values = suite->cases[bundled_case].inputs;
    if (values.size() != method_.inputs().size()) {
      return fail(ErrorCode::kInput, fmt::format("case {} holds {} inputs, method '{}' takes {}", bundled_case,
                                                 values.size(), method_.name(), takes_text(method_)));
    }
    any_given_ = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string source = fmt::format("bundled case {}", bundled_case);
      if (const auto* tensor = std::get_if<Tensor>(&values[i])) {
        PTERUN_ASSIGN(HostTensor copy, HostTensor::row_major_copy(*tensor));
        PTERUN_TRY(place(i, std::move(copy), source));
      } else if (const auto* number = std::get_if<std::int64_t>(&values[i])) {
        place_value(i, Value(*number), source);
      } else if (const auto* real = std::get_if<double>(&values[i])) {
        place_value(i, Value(*real), source);
      } else {
        place_value(i, Value(std::get<bool>(values[i])), source);
      }
    }
    return {};
  }

  Result<void> fill_rest() {
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (found_[i]) continue;
      const IoSpec& spec = method_.inputs()[i];
      if (spec.kind != IoSpec::Kind::kTensor) {
        place_value(i, spec.baked, "baked into the program");
        continue;
      }
      if (any_given_) {
        return fail(input_error(
            i, fmt::format("no value was given; method '{}' takes {}", method_.name(), takes_text(method_))));
      }
      PTERUN_TRY(generate_input(i, default_generator(spec.dtype), seed_));
    }
    return {};
  }

  Result<void> generate_input(std::size_t index, const Generator& generator, std::uint64_t seed) {
    const IoSpec& spec = method_.inputs()[index];
    if (spec.kind != IoSpec::Kind::kTensor) {
      return fail(input_error(index, "a generator can only fill a tensor, this is " + spec.describe()));
    }
    PTERUN_ASSIGN(HostTensor tensor, HostTensor::allocate(spec.dtype, shape_of(index)));
    PTERUN_TRY(generate(generator, seed, static_cast<std::uint32_t>(index), tensor.view()));
    result_.generated = true;
    return place(index, std::move(tensor), fmt::format("{}, seed {}", to_string(generator), seed));
  }

  Shape shape_of(std::size_t index) const {
    const auto shape = shapes_.find(index);
    return shape == shapes_.end() ? method_.inputs()[index].sizes : shape->second;
  }

  Result<void> place(std::size_t index, HostTensor tensor, std::string source) {
    const IoSpec& spec = method_.inputs()[index];
    if (spec.kind != IoSpec::Kind::kTensor) {
      PTERUN_ASSIGN(Value number, number_of(index, tensor.view()));
      place_value(index, std::move(number), std::move(source));
      return {};
    }
    const auto order = orders_.find(index);
    if (order != orders_.end() && tensor.view().rank() == order->second.rank() &&
        tensor.view().dim_order() != order->second) {
      PTERUN_ASSIGN(HostTensor laid_out,
                    HostTensor::allocate(tensor.view().dtype(), tensor.view().shape(), order->second));
      PTERUN_TRY(copy_elements(tensor.view(), laid_out.view()));
      tensor = std::move(laid_out);
    }
    result_.inputs[index] = {{true, std::move(tensor), Value()}, std::move(source)};
    found_[index] = true;
    return {};
  }

  void place_value(std::size_t index, Value value, std::string source) {
    result_.inputs[index] = {{false, HostTensor(), std::move(value)}, std::move(source)};
    found_[index] = true;
  }

  const config::StepPlan& step_;
  const runtime::Method& method_;
  std::uint64_t seed_;
  std::vector<bool> found_;
  bool any_given_ = false;
  std::map<std::size_t, Shape> shapes_;
  std::map<std::size_t, DimOrder> orders_;
  StepInputs result_;
};

}  // namespace

Result<StepInputs> resolve_inputs(const config::StepPlan& step, const runtime::Method& method,
                                  const program::BundledProgram* bundle, std::size_t bundled_case, std::uint64_t seed) {
  return Resolver(step, method, seed).resolve(bundle, bundled_case);
}

Result<void> set_inputs(runtime::Method& method, const StepInputs& inputs) {
  for (std::size_t i = 0; i < inputs.inputs.size(); ++i) {
    const ResolvedInput& input = inputs.inputs[i];
    auto result =
        input.value.is_tensor ? method.set_input(i, input.value.tensor.view()) : method.set_input(i, input.value.value);
    if (!result) return fail(std::move(result).error().at("source", input.source).at("method", method.name()));
  }
  return {};
}

}  // namespace pterun::app
