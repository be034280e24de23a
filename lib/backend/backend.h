// The interface that a backend implements, and what it is given at init and execute. Options reach a backend on
// two paths: process-wide through set_option, per load through InitContext::load_options.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "options/option_table.h"
#include "options/option_value.h"
#include "tensor/value.h"

namespace pterun::backend {

// A key and its bytes as the exporter wrote them; unchanged by options.
struct CompileSpec {
  std::string_view key;
  Bytes value;
};

// Named constants of the program and its .ptd files. Bytes live as long as the loaded program.
class NamedData {
 public:
  virtual ~NamedData() = default;
  // Errors: kNotFound, naming the key; kInvalidExternalData.
  virtual Result<Bytes> find(std::string_view key) const = 0;
  // Names and sizes in bytes of all there are, in any order.
  virtual std::vector<std::pair<std::string_view, std::size_t>> list() const = 0;
  // The caller has copied (packed) these bytes and will not read them again soon; a hint.
  virtual void release_pages(Bytes) const {}
};

// What init is given. Everything is borrowed for the duration of the call except where the comment says otherwise.
struct InitContext {
  std::string_view method;                        // method's name
  std::size_t delegate_index = 0;                 // index in the method's delegate table
  std::span<const options::Option> load_options;  // this backend's options of this load
  const NamedData* named_data = nullptr;          // never null; lives as long as the loaded program
  ThreadPool* threads = nullptr;                  // never null; lives as long as the process's work
  LogSink* log = nullptr;                         // never null
  // Identifies the loaded program: equal for all delegates of all methods of one LoadedProgram, never reused.
  std::uint64_t program_id = 0;
  // Releases pages of the payload or of constants after they were packed; a hint, may be empty.
  std::function<void(Bytes)> release_pages;
  // Check the checksums of what comes from files that a backend keeps between processes.
  bool verify_caches = false;
  // Count the time of every node of the delegate (Delegate::node_times), which makes it slower.
  bool profile_nodes = false;

  // The option with that key, or null. Keys are unique.
  const options::OptionValue* load_option(std::string_view key) const;
};

// What a backend did with an option: the `effective` level of evidence. `value` is the value in force for this
// delegate, whatever path it came by.
struct OptionEffect {
  std::string key;
  options::OptionValue value;
  std::string detail;  // "workspace 3, 1204224 bytes, shared by 2 delegates"
};

// Named sizes and counters, for the report's memory and delegates sections ("workspace_bytes", "packed_bytes").
using Metrics = std::map<std::string, std::int64_t>;

// Time of one node inside a delegate, in the delegate's own words and order.
struct NodeTime {
  std::string name;  // "Fully Connected (NC, F32) GEMM"
  std::int64_t total_ns = 0;
  std::int64_t calls = 0;
};

// One initialised delegate of one method. Calls come from one thread at a time per LoadedProgram.
class Delegate {
 public:
  virtual ~Delegate() = default;
  // args: the delegate call's inputs, then its outputs, as slots of the method. Resizes dynamic outputs.
  // Errors name the node where one is to blame.
  virtual Result<void> execute(std::span<Value* const> args) = 0;
  virtual std::vector<OptionEffect> option_effects() const { return {}; }
  virtual Metrics metrics() const { return {}; }
  // Sums over all executions of a delegate made with profile_nodes; empty without, and for what cannot tell.
  virtual std::vector<NodeTime> node_times() const { return {}; }
  // The scale of a quantised result, or of the one that a float result was converted from; `argument` counts the call's
  // arguments. Nothing for inputs and for results that have none.
  virtual std::optional<double> output_scale(std::size_t) const { return std::nullopt; }
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const options::OptionTable& option_table() const = 0;  // its `backend` is the registered name
  virtual bool is_available() const { return true; }

  // Process-wide options. Applies all or none: every option is checked before the first is stored.
  // Errors: kInvalidArgument (value), kNotFound (unknown key).
  virtual Result<void> set_option(std::span<const options::Option> options) = 0;
  // The value in force process-wide, its default if never set. Errors: kNotFound (unknown, load-only or action key).
  virtual Result<options::OptionValue> get_option(std::string_view key) const = 0;

  // Makes a delegate from its payload. `payload` lives as long as the loaded program.
  // Errors: kInvalidArgument (a load option), kDelegateInvalidCompatibility or kInvalidProgram (payload),
  // kNotImplemented / kNotSupported (node or dtype, named, blame kProgram), kInternal.
  virtual Result<std::unique_ptr<Delegate>> init(const InitContext& context, Bytes payload,
                                                 std::span<const CompileSpec> compile_specs) = 0;

  // All delegates of a method were made and it is ready to run; what is kept between processes may be saved now.
  // Called once for every method that was loaded and has delegates of this backend. Trouble is a warning.
  virtual void method_loaded(std::uint64_t /*program_id*/, std::string_view /*method*/, LogSink& /*log*/) {}
};

}  // namespace pterun::backend
