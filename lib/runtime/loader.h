// Loader -> LoadedProgram -> Method: from a file to executions. Knows backends and operators by interface only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend_registry.h"
#include "backend/load_options.h"
#include "backend/receipt.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "operators/operator.h"
#include "program/external_data.h"
#include "program/program.h"
#include "runtime/method.h"

namespace pterun::runtime {

struct LoadRequest {
  std::string path;                     // .pte or .bpte
  std::vector<std::string> data_paths;  // .ptd files
  program::Verification verification = program::Verification::kFull;
  backend::LoadOptions options;  // reach every delegate of every method that is loaded
  bool verify_caches = false;    // check the checksums of what backends keep in files
  bool profile_nodes = false;    // delegates count the time of their nodes
};

struct LoadTimes {
  std::int64_t program_ns = 0;  // map, verify, parse; .ptd files included
  std::int64_t methods_ns = 0;  // sum over the loaded methods
};

class SharedState;  // named constants, shared mutable buffers; internal

// One program with the methods loaded so far. All of them got the same load options.
class LoadedProgram {
 public:
  ~LoadedProgram();
  const program::Program& program() const;
  // Loads the method, or returns it when it is loaded already. Pointer valid as long as this object.
  // Errors: kInvalidArgument (unknown, blame kUsage, listing the names there are); one kOperatorMissing that lists
  // every missing operator once with the number of its uses and every missing backend; a backend's error.
  Result<Method*> load_method(std::string_view name);
  const std::vector<backend::Receipt>& receipts() const;
  const LoadTimes& times() const;
  const std::vector<std::unique_ptr<Method>>& methods() const;  // in the order they were loaded

 private:
  friend class Loader;
  LoadedProgram();
  std::unique_ptr<SharedState> state_;
};

class Loader {
 public:
  // All are borrowed and outlive every LoadedProgram.
  Loader(backend::BackendRegistry& backends, const operators::OperatorRegistry& operators, ThreadPool& threads,
         LogSink& log)
      : backends_(backends), operators_(operators), threads_(threads), log_(log) {}

  // Opens and checks program and data files; loads no method. Errors: see program::Program::open and
  // ExternalDataFile::open; kInvalidArgument for a key in two .ptd files, naming key and files (blame kProgram).
  Result<std::unique_ptr<LoadedProgram>> load(const LoadRequest& request);

 private:
  backend::BackendRegistry& backends_;
  const operators::OperatorRegistry& operators_;
  ThreadPool& threads_;
  LogSink& log_;
};

// What a program needs and this build lacks, per method, without loading anything.
struct MissingItem {
  std::string name;  // operator or backend
  std::size_t uses = 0;
};
struct Missing {
  std::vector<MissingItem> operators;
  std::vector<MissingItem> backends;
  bool empty() const { return operators.empty() && backends.empty(); }
};
Missing find_missing(const program::MethodPlan& plan, const backend::BackendRegistry& backends,
                     const operators::OperatorRegistry& operators);

}  // namespace pterun::runtime
