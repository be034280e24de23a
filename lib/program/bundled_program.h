// A .bpte file: a program with test cases per method (inputs and expected outputs).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "tensor/tensor.h"

namespace pterun::program {

// A tensor in place in the file, or a number.
using BundledValue = std::variant<Tensor, std::int64_t, double, bool>;

struct BundledCase {
  std::vector<BundledValue> inputs;
  std::vector<BundledValue> expected_outputs;
};

struct BundledSuite {
  std::string method;
  std::vector<BundledCase> cases;
};

class BundledProgram {
 public:
  // Errors (blame kProgram, place "file"): kAccessFailed, kInvalidProgram (not a bundled program, damaged).
  static Result<std::shared_ptr<const BundledProgram>> open(const std::string& path);
  // The same from bytes that must outlive the result; `name` stands for the file in messages.
  static Result<std::shared_ptr<const BundledProgram>> parse(Bytes bytes, const std::string& name);

  std::span<const BundledSuite> suites() const { return suites_; }
  const BundledSuite* find_suite(std::string_view method) const;  // null when there is none
  Bytes program() const { return program_; }                      // the embedded .pte

 private:
  friend class BundledProgramReader;
  MappedFile file_;
  std::vector<BundledSuite> suites_;
  Bytes program_;
};

// Whether the file begins like a bundled program; false when it cannot be read.
bool looks_like_bundled_program(const std::string& path);

}  // namespace pterun::program
