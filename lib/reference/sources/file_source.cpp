// FILE.npz or FILE.safetensors: expected outputs by position, read once.
#include <fmt/format.h>

#include "reference/reference.h"
#include "tensor/io/tensor_file.h"

namespace pterun::reference {
namespace {

class FileSource final : public Source {
 public:
  FileSource(std::string path, std::vector<io::PositionedTensor> tensors)
      : path_(std::move(path)), tensors_(std::move(tensors)) {}

  Result<Expected> expected(const runtime::Method&, std::span<const StepInput>) override {
    Expected expected{path_, Kind::kFile, {}};
    for (const io::PositionedTensor& tensor : tensors_) {
      PTERUN_ASSIGN(HostTensor copy, HostTensor::row_major_copy(tensor.tensor.view()));
      expected.outputs.push_back({tensor.position, std::move(copy)});
    }
    return expected;
  }

 private:
  std::string path_;
  std::vector<io::PositionedTensor> tensors_;
};

Result<std::unique_ptr<Source>> make(std::string_view rest, const SourceContext&) {
  std::string path(rest);
  auto tensors = io::read_positioned_tensors(path);
  if (!tensors) {
    Error error = std::move(tensors).error();
    error.code = ErrorCode::kReference;
    return fail(std::move(error));
  }
  return std::make_unique<FileSource>(std::move(path), *std::move(tensors));
}

}  // namespace

SourceKind file_source() {
  return {"", false, "FILE.npz or FILE.safetensors: saved outputs", &make};
}

}  // namespace pterun::reference
