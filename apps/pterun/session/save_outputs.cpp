// Writing outputs as npz, safetensors or a folder of npy files.
#include "pterun/session/save_outputs.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "pterun/session/run_session.h"
#include "tensor/io/npy.h"
#include "tensor/io/npz.h"
#include "tensor/io/safetensors.h"

namespace pterun::app {
namespace {

Error output_error(const std::string& path, const std::string& reason) {
  return make_error(ErrorCode::kOutput, fmt::format("--save-outputs cannot write '{}': {}", path, reason))
      .at("file", path);
}

}  // namespace

Result<OutputSaver> OutputSaver::open(const std::string& path) {
  OutputSaver saver;
  saver.path_ = path;
  if (path.empty()) return saver;
  if (path.ends_with('/')) {
    std::error_code code;
    std::filesystem::create_directories(path, code);
    if (code || !std::filesystem::is_directory(path))
      return fail(output_error(path, code ? code.message() : "it is no directory"));
    return saver;
  }
  if (!path.ends_with(".npz") && !path.ends_with(".safetensors")) {
    return fail(
        make_error(ErrorCode::kUsage,
                   fmt::format("--save-outputs '{}': the name ends in neither .npz nor .safetensors nor /", path)));
  }
  std::FILE* file = std::fopen(path.c_str(), "abe");
  if (file == nullptr) return fail(output_error(path, std::strerror(errno)));
  std::fclose(file);
  return saver;
}

Result<void> OutputSaver::save(const std::vector<PreparedStep>& steps) const {
  if (path_.empty()) return {};
  std::vector<std::string> names;
  std::vector<const Tensor*> views;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (std::size_t i = 0; i < steps[step].outputs.size(); ++i) {
      const std::string prefix = steps.size() > 1 ? fmt::format("step{}_", step) : "";
      names.push_back(fmt::format("{}output_{}", prefix, i));
      views.push_back(&steps[step].outputs[i].view());
    }
  }
  std::vector<io::NamedTensorView> tensors;
  for (std::size_t i = 0; i < names.size(); ++i)
    tensors.push_back({names[i], views[i]});
  if (path_.ends_with(".npz")) return io::write_npz(path_, tensors);
  if (path_.ends_with(".safetensors")) return io::write_safetensors(path_, tensors);
  for (const io::NamedTensorView& tensor : tensors) {
    PTERUN_TRY(io::write_npy(path_ + std::string(tensor.name) + ".npy", *tensor.tensor));
  }
  return {};
}

}  // namespace pterun::app
