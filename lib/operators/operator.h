// The interface of operators outside delegates. A call is prepared once, when its method is loaded, and executed
// once per instruction: prepare checks what can be known then, packs constants and creates XNNPACK operators;
// execute resizes the outputs and computes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "operators/arguments.h"

namespace pterun::operators {

// Memory for the duration of one instruction.
class Scratch {
 public:
  // At least `size_bytes`, aligned to 64, uninitialised, readable 128 bytes past the end; valid until reset().
  Result<std::byte*> allocate(std::size_t size_bytes);
  void reset();

 private:
  std::vector<AlignedBuffer> blocks_;
  std::size_t used_blocks_ = 0;
};

struct PrepareContext {
  ThreadPool* threads = nullptr;    // never null
  LogSink* log = nullptr;           // never null
  std::uint64_t random_stream = 0;  // another one for each call of a method: seeds operators that draw numbers
};

struct ExecuteContext {
  ThreadPool* threads = nullptr;  // never null
  Scratch* scratch = nullptr;     // never null
};

// One prepared call. Belongs to one instruction of one method.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // `arguments` are the same slots as at prepare; shapes and numbers may have changed, constants have not.
  virtual Result<void> execute(ExecuteContext& context, const Arguments& arguments) = 0;
};

using Function = Result<void> (*)(ExecuteContext& context, const Arguments& arguments);
using Prepare = Result<std::unique_ptr<Kernel>> (*)(PrepareContext& context, const Arguments& arguments);

// A set of dtypes, for the table of what is supported.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(std::initializer_list<DType> dtypes) {
    for (const DType dtype : dtypes)
      bits_ |= bit(dtype);
  }
  constexpr bool contains(DType dtype) const { return (bits_ & bit(dtype)) != 0; }
  friend constexpr DTypeSet operator|(DTypeSet a, DTypeSet b) {
    DTypeSet c;
    c.bits_ = a.bits_ | b.bits_;
    return c;
  }

 private:
  static constexpr std::uint32_t bit(DType dtype) { return 1u << static_cast<unsigned>(dtype); }
  std::uint32_t bits_ = 0;
};

inline constexpr DTypeSet kIntegers = {DType::kUInt8, DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64};
inline constexpr DTypeSet kFloats = {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64};
inline constexpr DTypeSet kBoolOnly = {DType::kBool};
inline constexpr DTypeSet kUnsigned = {DType::kUInt16, DType::kUInt32, DType::kUInt64};
inline constexpr DTypeSet kRealAndBool = kIntegers | kFloats | kBoolOnly;
inline constexpr DTypeSet kAllDTypes = kRealAndBool | kUnsigned;
inline constexpr DTypeSet kComplex = {DType::kComplex64, DType::kComplex128};
inline constexpr DTypeSet kAnyDType = kAllDTypes | kComplex;
inline constexpr DTypeSet kNumbers = kIntegers | kFloats | kUnsigned;
inline constexpr DTypeSet kIntegersAndBool = kIntegers | kUnsigned | kBoolOnly;
// Those whose order the compute types keep: uint64 is computed as int64, modulo 2^64, and cannot be compared there.
inline constexpr DTypeSet kOrdered = kRealAndBool | DTypeSet{DType::kUInt16, DType::kUInt32};
inline constexpr DTypeSet kOrderedNumbers = kIntegers | kFloats | DTypeSet{DType::kUInt16, DType::kUInt32};

// One overload: one row in its family's table. Exactly one of `function` (nothing to prepare) and `prepare` is set.
// `dtypes` are those of the first tensor argument that the overload computes with.
struct OperatorRow {
  std::string_view name;  // "aten::add.out"
  DTypeSet dtypes;
  Function function = nullptr;
  Prepare prepare = nullptr;
};

class OperatorRegistry {
 public:
  // Errors: kRegistrationAlreadyRegistered, naming the overload.
  Result<void> add(std::span<const OperatorRow> family);
  // The row, or null. Rows are borrowed from the families' tables, which live as long as the process.
  const OperatorRow* find(std::string_view name) const;
  std::vector<const OperatorRow*> rows() const;  // sorted by name

 private:
  std::vector<const OperatorRow*> sorted_;
};

// Prepares a call of `row`; a row with a plain function becomes a Kernel that calls it.
Result<std::unique_ptr<Kernel>> prepare_kernel(const OperatorRow& row, PrepareContext& context,
                                               const Arguments& arguments);

}  // namespace pterun::operators
