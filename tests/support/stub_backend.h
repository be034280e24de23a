// A backend for tests of options: keys on every combination of paths, and variants that lie about what they did. It
// notes what its init received; its delegates compute nothing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "options/option_table.h"

namespace pterun::test {

// How the stub treats process-wide options, and whether it states effects that are not so.
enum class StubManner {
  kHonest,
  kDrops,         // accepts a value and keeps the old one
  kIgnores,       // stores and reads back, but its delegates go on with the default
  kOkToAnything,  // answers Ok to unknown keys and wrong types, and reads back false for everything
};

// What one init was given.
struct StubInit {
  std::string method;
  std::size_t delegate = 0;
  std::vector<options::Option> load_options;
};

class StubBackend final : public backend::Backend {
 public:
  // Keys: `level` (int 0 to 3, names low, medium, high, full; both paths), `cache` (bool, both), `label` (string,
  // both), `log_level` (int, process-wide only), `cache_dir` (string, load only, requires `cache`), `flush` (action).
  explicit StubBackend(std::string name = "StubBackend", StubManner manner = StubManner::kHonest);

  const options::OptionTable& option_table() const override { return table_; }
  Result<void> set_option(std::span<const options::Option> options) override;
  Result<options::OptionValue> get_option(std::string_view key) const override;
  Result<std::unique_ptr<backend::Delegate>> init(const backend::InitContext& context, Bytes payload,
                                                  std::span<const backend::CompileSpec> compile_specs) override;

  const std::vector<StubInit>& inits() const { return inits_; }
  std::size_t flushes() const { return flushes_; }
  std::size_t set_calls() const { return set_calls_; }

 private:
  Result<void> check(const options::Option& option) const;

  StubManner manner_;
  options::OptionTable table_;
  std::map<std::string, options::OptionValue, std::less<>> values_;
  std::vector<StubInit> inits_;
  std::size_t flushes_ = 0;
  std::size_t set_calls_ = 0;
};

// The table of the honest stub.
options::OptionTable stub_option_table(const std::string& backend);

}  // namespace pterun::test
