// Program: opening, the parts of the file that belong to no method, and look-ups.
#include "program/program.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"
#include "program/bundle.h"
#include "program/container.h"
#include "program/file_kind.h"
#include "program/flatbuffer_access.h"
#include "program/method_reader.h"
#include "program/program_data.h"

namespace pterun::program {
namespace {

// What the original calls kMaxSupportedSchemaVersion.
constexpr std::uint32_t kNewestVersion = 0;
constexpr std::size_t kRequiredAlignment = 16;
// Allowance for the lists of very small files.
constexpr std::uint64_t kBudgetSlack = 1024;

std::unexpected<Error> invalid(std::string message) {
  return fail(program_error(ErrorCode::kInvalidProgram, std::move(message)));
}

}  // namespace

// Fills a Program from bytes that outlive it.
class ProgramReader {
 public:
  static std::shared_ptr<Program> make(const std::string& name, Verification verification) {
    auto program = std::make_shared<Program>();
    program->path_ = name;
    program->verification_ = verification;
    return program;
  }

  static Result<std::shared_ptr<const Program>> open(MappedFile file, Verification verification) {
    auto program = make(file.path(), verification);
    program->file_ = std::move(file);
    Bytes bytes = program->file_.bytes();
    program->bundled_ = has_identifier(bytes, kBundledProgramIdentifier);
    if (program->bundled_) {
      PTERUN_ASSIGN(const fb::BundledProgram* bundle, verify_bundle(bytes, program->path_));
      bytes = bundled_bytes(*bundle);
    }
    PTERUN_TRY(ProgramReader(*program, bytes).read());
    program->file_bytes_ = program->file_.bytes().size();
    return program;
  }

  ProgramReader(Program& program, Bytes bytes) : program_(program), bytes_(bytes) {}

  Result<void> read() {
    program_.file_bytes_ = bytes_.size();
    if (reinterpret_cast<std::uintptr_t>(bytes_.data()) % kRequiredAlignment != 0) {
      return fail(
          program_error(ErrorCode::kInvalidArgument, fmt::format("the bytes of {} are not aligned to {}",
                                                                 in_quotes(program_.path_, 300), kRequiredAlignment))
              .at("file", program_.path_));
    }
    PTERUN_ASSIGN(const Container container, split_program(bytes_, program_.path_));
    const auto* root = verify_flatbuffer<fb::Program>(container.flatbuffer, kProgramIdentifier);
    if (root == nullptr) {
      return fail(program_error(ErrorCode::kInvalidProgram,
                                in_quotes(program_.path_, 300) +
                                    " is damaged: its flatbuffer does not verify (an offset "
                                    "leads outside it, or its tables are nested or shared beyond any use)")
                      .at("file", program_.path_));
    }
    if (auto done = read_tables(*root, container); !done) {
      Error error = std::move(done).error();
      error.message = in_quotes(program_.path_, 300) + " is not valid: " + error.message;
      return fail(std::move(error).at("file", program_.path_));
    }
    return {};
  }

 private:
  Result<void> read_tables(const fb::Program& root, const Container& container) {
    const bool full = program_.verification_ == Verification::kFull;
    if (full && root.version() > kNewestVersion) {
      return fail(program_error(ErrorCode::kInvalidProgram,
                                fmt::format("its schema version {} is newer than {}, the newest that this build knows",
                                            root.version(), kNewestVersion))
                      .with_hint("try --verify minimal, which ignores the version"));
    }
    const ProgramData data(root, container);
    if (full) PTERUN_TRY(data.check());
    PTERUN_TRY(read_named_data(root, data, full));
    ReadBudget budget(container.flatbuffer.size() + kBudgetSlack);
    program_.copies_ = AlignedCopies(bytes_.size());
    const ReadContext context{data, budget, program_.copies_, program_.verification_};
    const TableList plans(root.execution_plan());
    if (plans.size() == 0) return invalid("it has no methods");
    for (std::size_t i = 0; i < plans.size(); ++i) {
      PTERUN_ASSIGN(MethodPlan method, read_method(plans[i], context));
      if (program_.find_method(method.name) != nullptr) {
        return invalid(fmt::format("it has two methods named '{}'", method.name));
      }
      program_.methods_.push_back(std::move(method));
    }
    return {};
  }

  Result<void> read_named_data(const fb::Program& root, const ProgramData& data, bool full) {
    const TableList entries(root.named_data());
    auto& blobs = program_.named_data_;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::string_view key = text_of(entries[i].key());
      const auto bytes = data.segment(entries[i].segment_index());
      if (!bytes) {
        if (!full) continue;
        return invalid(fmt::format("named data {}: {}", in_quotes(key), bytes.error().message));
      }
      if (key.empty() || !is_printable(key))
        return invalid(fmt::format("named data {} has the key {}", i, in_quotes(key)));
      blobs.push_back({key, *bytes});
    }
    std::sort(blobs.begin(), blobs.end(), [](const NamedBlob& a, const NamedBlob& b) { return a.key < b.key; });
    const auto twin = std::adjacent_find(blobs.begin(), blobs.end(),
                                         [](const NamedBlob& a, const NamedBlob& b) { return a.key == b.key; });
    if (twin != blobs.end()) return invalid("the key " + in_quotes(twin->key) + " is twice in its named data");
    return {};
  }

  Program& program_;
  Bytes bytes_;
};

Result<std::shared_ptr<const Program>> Program::open(const std::string& path, Verification verification) {
  PTERUN_ASSIGN(MappedFile file, MappedFile::open(path));
  return ProgramReader::open(std::move(file), verification);
}

Result<std::shared_ptr<const Program>> Program::parse(Bytes bytes, const std::string& name, Verification verification) {
  auto program = ProgramReader::make(name, verification);
  PTERUN_TRY(ProgramReader(*program, bytes).read());
  return program;
}

const MethodPlan* Program::find_method(std::string_view name) const {
  const auto found =
      std::find_if(methods_.begin(), methods_.end(), [&](const MethodPlan& m) { return m.name == name; });
  return found == methods_.end() ? nullptr : &*found;
}

std::optional<Bytes> Program::find_named_data(std::string_view key) const {
  const auto found = std::lower_bound(named_data_.begin(), named_data_.end(), key,
                                      [](const NamedBlob& blob, std::string_view wanted) { return blob.key < wanted; });
  if (found == named_data_.end() || found->key != key) return std::nullopt;
  return found->data;
}

}  // namespace pterun::program
