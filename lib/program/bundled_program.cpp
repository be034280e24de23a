// Bundled programs: test cases as tensors in place, and the program inside.
#include "program/bundled_program.h"

#include <algorithm>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "base/checked.h"
#include "base/utf8.h"
#include "program/bundle.h"
#include "program/file_kind.h"
#include "program/flatbuffer_access.h"

namespace pterun::program {
namespace {

constexpr std::uint32_t kNewestVersion = 2;

std::unexpected<Error> invalid(std::string message) {
  return fail(program_error(ErrorCode::kInvalidProgram, std::move(message)));
}

Result<BundledValue> read_tensor(const fb::BundledTensor& tensor) {
  const auto dtype = dtype_from_number(tensor.scalar_type());
  if (!dtype) return invalid(fmt::format("it has the unknown scalar type {}", tensor.scalar_type()));
  const auto sizes = items_of(tensor.sizes());
  if (sizes.size() > kMaxRank)
    return invalid(fmt::format("it has rank {}; at most {} is possible", sizes.size(), kMaxRank));
  Shape shape;
  for (const std::int32_t size : sizes)
    shape.push_back(size);
  const auto numel = checked_numel(shape.span());
  const auto nbytes =
      numel ? checked_mul<std::int64_t>(*numel, static_cast<std::int64_t>(dtype_size(*dtype))) : std::nullopt;
  if (!nbytes) return invalid("its sizes " + shape.to_string() + " are negative or overflow");
  const auto order = items_of(tensor.dim_order());
  const auto dim_order = order.empty() ? DimOrder::contiguous(shape.rank()) : DimOrder::from(order);
  if (!dim_order || dim_order->rank() != shape.rank())
    return invalid("its dim order is no permutation of its dimensions");
  const Bytes data = bytes_of(tensor.data());
  if (data.size() != static_cast<std::uint64_t>(*nbytes)) {
    return invalid(
        fmt::format("{}{} needs {} bytes; it has {}", dtype_name(*dtype), shape.to_string(), *nbytes, data.size()));
  }
  if (reinterpret_cast<std::uintptr_t>(data.data()) % dtype_size(*dtype) != 0 && !data.empty()) {
    return invalid(
        fmt::format("its data is not aligned to the {} bytes of {}", dtype_size(*dtype), dtype_name(*dtype)));
  }
  if (*dtype == DType::kBool && !holds_bools(data)) return invalid("it has a bool that is neither 0 nor 1");
  return Tensor(*dtype, shape, *dim_order, const_cast<std::byte*>(data.data()));
}

Result<BundledValue> read_value(const fb::BundledValue& value) {
  if (value.val() == nullptr) return invalid("it is empty");
  switch (value.val_type()) {
    case fb::BundledKind::BundledTensor: return read_tensor(*value.val_as_BundledTensor());
    case fb::BundledKind::BundledInt: return value.val_as_BundledInt()->value();
    case fb::BundledKind::BundledBool: return value.val_as_BundledBool()->value();
    case fb::BundledKind::BundledDouble: return value.val_as_BundledDouble()->value();
    case fb::BundledKind::NONE: break;
  }
  return invalid(fmt::format("it is of the unknown kind {}", static_cast<int>(value.val_type())));
}

Result<std::vector<BundledValue>> read_values(const flatbuffers::Vector<flatbuffers::Offset<fb::BundledValue>>* vector,
                                              const char* what) {
  const TableList values(vector);
  std::vector<BundledValue> result;
  result.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto value = read_value(values[i]);
    if (!value) {
      Error error = std::move(value).error();
      error.message = fmt::format("{} {}: {}", what, i, error.message);
      return fail(std::move(error).at(what, std::to_string(i)));
    }
    result.push_back(*std::move(value));
  }
  return result;
}

Result<BundledCase> read_case(const fb::BundledTestCase& test) {
  BundledCase result;
  PTERUN_ASSIGN(result.inputs, read_values(test.inputs(), "input"));
  PTERUN_ASSIGN(result.expected_outputs, read_values(test.expected_outputs(), "output"));
  return result;
}

Result<BundledSuite> read_suite(const fb::BundledTestSuite& suite) {
  BundledSuite result;
  result.method = text_of(suite.method_name());
  if (result.method.empty() || !is_printable(result.method)) {
    return invalid("it has test cases for the method " + in_quotes(result.method));
  }
  const TableList cases(suite.test_cases());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    auto test = read_case(cases[i]);
    if (!test) {
      Error error = std::move(test).error();
      error.message = fmt::format("case {} of method '{}': {}", i, result.method, error.message);
      return fail(std::move(error).at("method", result.method));
    }
    result.cases.push_back(*std::move(test));
  }
  return result;
}

}  // namespace

Result<const fb::BundledProgram*> verify_bundle(Bytes file, const std::string& name) {
  const auto refuse = [&](const std::string& what) {
    return fail(program_error(ErrorCode::kInvalidProgram, in_quotes(name, 300) + what).at("file", name));
  };
  if (!has_identifier(file, kBundledProgramIdentifier)) {
    return refuse(" is not a .bpte bundled program (found " + describe_file_kind(file) + ")");
  }
  if (file.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    return refuse(fmt::format(" is damaged: it has {} bytes; a bundled program has at most 2147483647", file.size()));
  }
  const auto* bundle = verify_flatbuffer<fb::BundledProgram>(file, kBundledProgramIdentifier);
  if (bundle == nullptr) {
    return refuse(
        fmt::format(" is damaged: its flatbuffer does not verify; its {} bytes are probably truncated", file.size()));
  }
  if (bundle->version() > kNewestVersion) {
    return refuse(fmt::format(" is not valid: its version {} is newer than {}, the newest that this build knows",
                              bundle->version(), kNewestVersion));
  }
  if (bytes_of(bundle->program()).empty()) return refuse(" is not valid: there is no program in it");
  return bundle;
}

Bytes bundled_bytes(const fb::BundledProgram& bundle) {
  return bytes_of(bundle.program());
}

class BundledProgramReader {
 public:
  static Result<void> read(Bytes bytes, const std::string& name, BundledProgram& result) {
    PTERUN_ASSIGN(const fb::BundledProgram* bundle, verify_bundle(bytes, name));
    result.program_ = bundled_bytes(*bundle);
    const TableList suites(bundle->method_test_suites());
    for (std::size_t i = 0; i < suites.size(); ++i) {
      auto suite = read_suite(suites[i]);
      if (suite && result.find_suite(suite->method) != nullptr) {
        suite = invalid("it has two lists of test cases for the method " + in_quotes(suite->method));
      }
      if (!suite) {
        Error error = std::move(suite).error();
        error.message = in_quotes(name, 300) + " is not valid: " + error.message;
        return fail(std::move(error).at("file", name));
      }
      result.suites_.push_back(*std::move(suite));
    }
    return {};
  }

  static Result<std::shared_ptr<const BundledProgram>> open(const std::string& path) {
    auto result = std::make_shared<BundledProgram>();
    PTERUN_ASSIGN(result->file_, MappedFile::open(path));
    PTERUN_TRY(read(result->file_.bytes(), path, *result));
    return result;
  }

  static Result<std::shared_ptr<const BundledProgram>> parse(Bytes bytes, const std::string& name) {
    auto result = std::make_shared<BundledProgram>();
    PTERUN_TRY(read(bytes, name, *result));
    return result;
  }
};

Result<std::shared_ptr<const BundledProgram>> BundledProgram::open(const std::string& path) {
  return BundledProgramReader::open(path);
}

Result<std::shared_ptr<const BundledProgram>> BundledProgram::parse(Bytes bytes, const std::string& name) {
  return BundledProgramReader::parse(bytes, name);
}

const BundledSuite* BundledProgram::find_suite(std::string_view method) const {
  const auto found =
      std::find_if(suites_.begin(), suites_.end(), [&](const BundledSuite& s) { return s.method == method; });
  return found == suites_.end() ? nullptr : &*found;
}

bool looks_like_bundled_program(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char head[8] = {};
  return file.read(head, sizeof(head)) && has_identifier(std::as_bytes(std::span(head)), kBundledProgramIdentifier);
}

}  // namespace pterun::program
