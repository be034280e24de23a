// The block driver behind elementwise operators; compiled once, whatever the operator and the dtypes.
#include "operators/elementwise.h"

#include <algorithm>

#include "operators/block_copy.h"
#include "operators/broadcast.h"
#include "operators/complex_elementwise.h"
#include "operators/output.h"

namespace pterun::operators {
namespace {

// Elements for one thread at a time: below this, waking a thread costs more than it saves.
constexpr std::size_t kGrain = 32768;

// Whether every value of `from` is a value of `to`, so that rounding to `to` changes nothing.
bool holds_all(DType from, DType to) {
  return is_floating(from) == is_floating(to) && promote(from, to) == to;
}

bool is_native_result(DType dtype, Compute compute) {
  return is_native(dtype, compute) || (dtype == DType::kBool && compute == Compute::kTruth);
}

}  // namespace

// An operand on its way into blocks.
struct Elementwise::Source {
  const std::byte* data = nullptr;
  std::size_t element_size = 0;
  std::size_t block_element_size = 0;
  bool native = false;  // may be used in place where its elements lie one behind the other
  LoadBlock load = nullptr;
  StoreBlock round = nullptr;  // to the common dtype and back, or null
  LoadBlock unround = nullptr;
  StridedSpan span;

  void load_run(std::int64_t offset, std::int64_t stride, std::byte* to, std::size_t count) const {
    load(data + offset * static_cast<std::int64_t>(element_size), stride, to, count);
  }
  void round_block(std::byte* block, std::size_t count) const {
    if (round == nullptr) return;
    alignas(64) std::byte rounded[kBlock * 8];
    round(block, rounded, 1, count);
    unround(rounded, 1, block, count);
  }
};

// Feeds one range of the output, in its memory order, through the loop.
class Elementwise::BlockDriver {
 public:
  std::array<Source, kMaxOperands> sources;
  std::size_t count = 0;
  BlockLoop loop = nullptr;  // null: the only operand's values are the results
  const void* op = nullptr;
  std::byte* out = nullptr;
  DType out_dtype = DType::kFloat32;
  DType result_dtype = DType::kFloat32;
  Compute result = Compute::kFloat;

  void run(std::size_t begin, std::size_t end) const {
    const bool in_place = out_dtype == result_dtype && is_native_result(out_dtype, result);
    bool all_in_place = in_place;
    for (std::size_t k = 0; k < count; ++k)
      all_in_place &= sources[k].native && sources[k].span.is_flat();
    if (all_in_place && loop != nullptr) return run_in_place(begin, end);
    run_blocks(begin, end, in_place);
  }

 private:
  void run_in_place(std::size_t begin, std::size_t end) const {
    std::array<const void*, kMaxOperands> in{};
    for (std::size_t k = 0; k < count; ++k)
      in[k] = sources[k].data + begin * sources[k].element_size;
    loop(op, out + begin * dtype_size(out_dtype), in.data(), end - begin);
  }

  void run_blocks(std::size_t begin, std::size_t end, bool in_place) const {
    alignas(64) std::byte blocks[kMaxOperands][kBlock * 8];
    alignas(64) std::byte results[kBlock * 8];
    std::array<const void*, kMaxOperands> in{};
    std::array<StridedCursor, kMaxOperands> cursors{cursor(0, begin), cursor(1, begin), cursor(2, begin),
                                                    cursor(3, begin)};
    for (std::size_t k = 0; k < count; ++k) {
      if (sources[k].span.is_constant()) in[k] = fill_constant(sources[k], blocks[k], std::min(kBlock, end - begin));
    }
    for (std::size_t done = begin; done < end; done += kBlock) {
      const std::size_t n = std::min(kBlock, end - done);
      for (std::size_t k = 0; k < count; ++k) {
        if (!sources[k].span.is_constant()) in[k] = next_block(sources[k], cursors[k], blocks[k], n);
      }
      std::byte* target = out + done * dtype_size(out_dtype);
      if (loop == nullptr) {
        store(in[0], target, n);
      } else {
        loop(op, in_place ? target : results, in.data(), n);
        if (!in_place) store(results, target, n);
      }
    }
  }

  StridedCursor cursor(std::size_t k, std::size_t begin) const {
    return StridedCursor(sources[k].span, sources[k].span.is_constant() ? 0 : static_cast<std::int64_t>(begin));
  }

  static const void* fill_constant(const Source& source, std::byte* block, std::size_t n) {
    source.load_run(0, 0, block, n);
    source.round_block(block, n);
    return block;
  }

  static const void* next_block(const Source& source, StridedCursor& cursor, std::byte* block, std::size_t n) {
    const std::int64_t stride = source.span.rank() == 0 ? 0 : source.span.inner_stride();
    auto left = static_cast<std::int64_t>(n);
    if (source.native && stride == 1 && cursor.run() >= left) {
      const std::byte* data = source.data + cursor.offset() * static_cast<std::int64_t>(source.element_size);
      cursor.advance(left);
      return data;
    }
    std::byte* to = block;
    while (left > 0) {
      const std::int64_t step = std::min(cursor.run(), left);
      source.load_run(cursor.offset(), stride, to, static_cast<std::size_t>(step));
      cursor.advance(step);
      to += static_cast<std::size_t>(step) * source.block_element_size;
      left -= step;
    }
    source.round_block(block, n);
    return block;
  }

  void store(const void* results, std::byte* target, std::size_t n) const {
    if (out_dtype == result_dtype) return store_block(result, out_dtype)(results, target, 1, n);
    alignas(64) std::byte rounded[kBlock * 8];
    store_block(result, result_dtype)(results, rounded, 1, n);
    convert_elements(result_dtype, rounded, out_dtype, target, n);
  }
};

Result<void> Elementwise::add_tensor(std::size_t argument, DTypeSet allowed) {
  PTERUN_TRY(add_unpromoted(argument, allowed));
  promotion_.add(*operands_[count_ - 1].tensor);
  return {};
}

Result<void> Elementwise::add_unpromoted(std::size_t argument, DTypeSet allowed) {
  PTERUN_ASSIGN(const Tensor* tensor, arguments_.tensor(argument));
  PTERUN_TRY(check_dtype(arguments_, argument, *tensor, allowed));
  operands_[count_++] = {.tensor = tensor, .dtype = tensor->dtype()};
  return {};
}

Result<void> Elementwise::add_scalar(std::size_t argument) {
  PTERUN_ASSIGN(const Scalar number, arguments_.scalar(argument));
  add_number(number);
  return {};
}

void Elementwise::add_number(const Scalar& number) {
  Operand& operand = operands_[count_++];
  operand.dtype = number.is_double() ? DType::kFloat64 : number.is_int() ? DType::kInt64 : DType::kBool;
  if (number.is_double()) {
    store_one(operand.dtype, number.to_double(), operand.number.data());
  } else {
    store_one(operand.dtype, number.to_int(), operand.number.data());
  }
  promotion_.add(number);
}

Result<Shape> Elementwise::broadcast() const {
  Shape shape;
  for (std::size_t k = 0; k < count_; ++k) {
    if (operands_[k].tensor == nullptr) continue;
    const auto both = broadcast_shapes(shape, operands_[k].tensor->shape());
    if (!both) {
      return fail(arguments_.error(
          ErrorCode::kInvalidArgument,
          "shapes " + shape.to_string() + " and " + operands_[k].tensor->shape().to_string() + " do not broadcast"));
    }
    shape = *both;
  }
  return shape;
}

Result<void> Elementwise::set_output(std::size_t argument, DType result) {
  PTERUN_ASSIGN(out_, arguments_.tensor(argument));
  PTERUN_TRY(check_output_dtype(arguments_, result, *out_));
  PTERUN_ASSIGN(const Shape shape, broadcast());
  result_ = result;
  return resize_output(arguments_, *out_, shape);
}

Result<void> Elementwise::set_inplace_output(Tensor& out, DType result) {
  out_ = &out;
  result_ = result;
  PTERUN_TRY(check_output_dtype(arguments_, result, out));
  PTERUN_ASSIGN(const Shape shape, broadcast());
  if (broadcasts_to(shape, out.shape())) return {};
  return fail(arguments_.error(ErrorCode::kInvalidArgument,
                               "shape " + shape.to_string() + " does not broadcast to " + out.shape().to_string()));
}

Elementwise::Source Elementwise::make_source(const Operand& operand, DType common, Compute compute) const {
  Source source;
  source.element_size = dtype_size(operand.dtype);
  source.block_element_size = compute_size(compute);
  source.native = is_native(operand.dtype, compute);
  source.load = load_block(operand.dtype, compute);
  const bool is_number = operand.tensor == nullptr || operand.tensor->rank() == 0;
  if (compute != Compute::kTruth && !holds_all(operand.dtype, common) && !(exact_scalars_ && is_number)) {
    source.round = store_block(compute, common);
    source.unround = load_block(common, compute);
  }
  source.native &= source.round == nullptr;
  if (operand.tensor == nullptr) {
    source.data = operand.number.data();
    source.span = StridedSpan(Shape{out_->numel()}, Strides{0});
  } else {
    source.data = static_cast<const std::byte*>(operand.tensor->raw_data());
    source.span = StridedSpan::of_operand(*operand.tensor, out_->shape(), out_->dim_order());
  }
  return source;
}

Elementwise::BlockDriver Elementwise::make_driver(DType common, const Computes& operands) const {
  BlockDriver driver;
  for (std::size_t k = 0; k < count_; ++k)
    driver.sources[k] = make_source(operands_[k], common, operands[k]);
  driver.count = count_;
  driver.out = static_cast<std::byte*>(out_->mutable_raw_data());
  driver.out_dtype = out_->dtype();
  driver.result_dtype = result_;
  return driver;
}

void Elementwise::drive(const BlockDriver& driver) {
  context_.threads->parallel_for(static_cast<std::size_t>(out_->numel()), kGrain,
                                 [&](std::size_t begin, std::size_t end) { driver.run(begin, end); });
}

void Elementwise::run(DType common, const Computes& operands, Compute result, BlockLoop loop, const void* op) {
  if (out_->numel() == 0) return;
  BlockDriver driver = make_driver(common, operands);
  driver.loop = loop;
  driver.op = op;
  driver.result = result;
  drive(driver);
}

void Elementwise::convert() {
  if (out_->numel() == 0) return;
  const Operand& from = operands_[0];
  if (from.dtype == out_->dtype() && from.tensor != nullptr) {
    return copy_broadcast(*context_.threads, *from.tensor, *out_);
  }
  if (is_complex(from.dtype) || is_complex(out_->dtype())) return convert_complex(*from.tensor, *out_);
  const Compute compute = compute_of(from.dtype);
  BlockDriver driver = make_driver(from.dtype, {compute});
  driver.result_dtype = driver.out_dtype;
  driver.result = compute;
  drive(driver);
}

}  // namespace pterun::operators
