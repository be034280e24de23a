// A verified .pte program as plain structs. Everything the file says was checked when a Program exists: every
// index is in range, every byte range lies inside the file, every enum value is known. Bytes and string_views
// point into the mapped file and live as long as the Program, which is immutable and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "program/aligned_copies.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace pterun::program {

// kFull: every rule of the format. kMinimal reads what cannot harm: a newer schema version, segments and named data
// outside the file (they are left out). At either level the flatbuffer is verified whole and every index and range is
// checked: the walk costs microseconds, and nothing may be read without it.
enum class Verification : std::uint8_t { kMinimal, kFull };

// A place in the memory plan. `buffer` counts from 0 (the file's memory_id minus 1).
struct PlannedMemory {
  std::uint32_t buffer = 0;
  std::uint64_t offset_bytes = 0;
};

struct TensorSpec {
  DType dtype = DType::kFloat32;
  Shape sizes;  // the upper bound when dynamic
  DimOrder dim_order;
  bool dynamic = false;
  std::uint64_t nbytes = 0;  // of `sizes`; checked not to overflow
  // Where the data is. Exactly as the file has it (facts §3.4):
  std::optional<PlannedMemory> planned;  // set: lives in the memory plan
  Bytes data;  // not planned: the constant, in place. Planned: initial bytes of a mutable buffer. Exactly nbytes or
               // empty.
  bool external = false;  // data comes from a .ptd under `name`
  std::string_view name;  // fully qualified name, may be empty
  bool is_constant() const { return !planned && (external || !data.empty() || has_data); }
  bool has_data = false;  // data_buffer_idx != 0 (a constant or initial data of zero bytes has empty `data`)
};

struct NoneSpec {};
struct IntListSpec {
  std::vector<std::uint32_t> values;
};  // indices of values that hold Ints
struct DoubleListSpec {
  std::vector<double> items;
};
struct BoolListSpec {
  std::vector<bool> items;
};
struct TensorListSpec {
  std::vector<std::uint32_t> values;
};  // indices of Tensor values
struct OptionalTensorListSpec {
  std::vector<std::optional<std::uint32_t>> values;
};

using ValueSpec = std::variant<NoneSpec, TensorSpec, std::string_view, double, std::int64_t, bool, BoolListSpec,
                               DoubleListSpec, IntListSpec, TensorListSpec, OptionalTensorListSpec>;

struct KernelCall {
  std::uint32_t op = 0;
  std::vector<std::uint32_t> args;
};
struct DelegateCall {
  std::uint32_t delegate = 0;
  std::vector<std::uint32_t> args;
};
struct MoveCall {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};
struct JumpFalseCall {
  std::uint32_t condition = 0;
  std::uint32_t destination = 0;
};  // destination <= chain length
struct FreeCall {
  std::uint32_t value = 0;
};
using Instruction = std::variant<KernelCall, DelegateCall, MoveCall, JumpFalseCall, FreeCall>;

struct CompileSpecEntry {
  std::string_view key;
  Bytes value;
};

struct DelegateSpec {
  std::string_view id;  // backend name
  Bytes payload;
  std::vector<CompileSpecEntry> compile_specs;
};

struct MethodPlan {
  std::string name;
  std::vector<ValueSpec> values;
  std::vector<std::uint32_t> inputs;  // indices of values
  std::vector<std::uint32_t> outputs;
  std::vector<std::string> operators;  // "aten::add.out": name, then "." and overload unless that is empty
  std::vector<DelegateSpec> delegates;
  std::vector<std::vector<Instruction>> chains;
  std::vector<std::uint64_t> buffer_bytes;  // sizes of the planned buffers, by PlannedMemory::buffer
};

struct NamedBlob {
  std::string_view key;
  Bytes data;
};

class Program {
 public:
  // Maps and checks a file. `path` may also be a bundled program (.bpte): then the program inside it is read.
  // Errors (blame kProgram, place "file"): kAccessFailed; kInvalidProgram, saying what was found instead when the
  // file is of another known kind, or actual and expected size when it is truncated; kNotSupported.
  static Result<std::shared_ptr<const Program>> open(const std::string& path, Verification verification);
  // The same from bytes that outlive the result and are aligned to 16 bytes. `name` stands for the file in errors.
  static Result<std::shared_ptr<const Program>> parse(Bytes bytes, const std::string& name, Verification verification);

  const std::string& path() const { return path_; }
  std::uint64_t file_bytes() const { return file_bytes_; }
  std::span<const MethodPlan> methods() const { return methods_; }
  const MethodPlan* find_method(std::string_view name) const;  // null when there is none
  std::span<const NamedBlob> named_data() const { return named_data_; }
  // The bytes under a key, or nullopt.
  std::optional<Bytes> find_named_data(std::string_view key) const;
  Verification verification() const { return verification_; }
  // "pte" or "bpte".
  bool is_bundled() const { return bundled_; }
  // Page advice for bytes inside the file; a hint.
  void release_pages(Bytes range) const { file_.release_pages(range); }
  // The same for the whole file: what loading read and executing does not.
  void release_pages() const { file_.release_pages(file_.bytes()); }

 private:
  friend class ProgramReader;
  std::string path_;
  std::uint64_t file_bytes_ = 0;
  Verification verification_ = Verification::kFull;
  bool bundled_ = false;
  MappedFile file_;
  AlignedCopies copies_;
  std::vector<MethodPlan> methods_;
  std::vector<NamedBlob> named_data_;  // sorted by key
};

}  // namespace pterun::program
