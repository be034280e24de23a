// --save-outputs FILE.npz | FILE.safetensors | DIR/: writes the tensor outputs of the reported execution.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace pterun::app {

struct PreparedStep;

class OutputSaver {
 public:
  // Checks that the place can be written before the work starts; an empty path saves nothing.
  // Errors: kOutput naming the path; kUsage for another ending.
  static Result<OutputSaver> open(const std::string& path);
  // Keys are output_0, output_1, …; with several steps in front of each the step: step0_output_0.
  // A DIR/ gets one .npy for each. Errors: kOutput.
  Result<void> save(const std::vector<PreparedStep>& steps) const;

 private:
  std::string path_;
};

}  // namespace pterun::app
