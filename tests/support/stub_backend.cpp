// The stub's table, its honest behaviour and its lies.
#include "support/stub_backend.h"

namespace pterun::test {
namespace {

using options::Option;
using options::OptionSpec;
using options::OptionType;
using options::OptionValue;

// Computes nothing; says which values are in force for it.
class StubDelegate final : public backend::Delegate {
 public:
  explicit StubDelegate(std::vector<backend::OptionEffect> effects) : effects_(std::move(effects)) {}
  Result<void> execute(std::span<Value* const>) override { return {}; }
  std::vector<backend::OptionEffect> option_effects() const override { return effects_; }

 private:
  std::vector<backend::OptionEffect> effects_;
};

OptionSpec make_spec(std::string key, OptionType type, bool process_wide, bool load,
                     std::optional<OptionValue> default_value) {
  OptionSpec spec;
  spec.key = std::move(key);
  spec.type = type;
  spec.process_wide = process_wide;
  spec.load = load;
  spec.default_value = std::move(default_value);
  spec.doc = "for tests";
  return spec;
}

}  // namespace

options::OptionTable stub_option_table(const std::string& backend) {
  OptionSpec level = make_spec("level", OptionType::kInt, true, true, OptionValue(1));
  level.min = 0;
  level.max = 3;
  level.names = {{"low", 0}, {"medium", 1}, {"high", 2}, {"full", 3}};
  OptionSpec cache_dir = make_spec("cache_dir", OptionType::kString, false, true, OptionValue(std::string()));
  cache_dir.requires_true = "cache";
  OptionSpec flush = make_spec("flush", OptionType::kBool, true, false, std::nullopt);
  flush.action = true;
  return {backend,
          {level, make_spec("cache", OptionType::kBool, true, true, OptionValue(false)),
           make_spec("label", OptionType::kString, true, true, OptionValue(std::string("none"))),
           make_spec("log_level", OptionType::kInt, true, false, OptionValue(0)), cache_dir, flush}};
}

StubBackend::StubBackend(std::string name, StubManner manner) : manner_(manner), table_(stub_option_table(name)) {
  for (const OptionSpec& spec : table_.specs) {
    if (spec.process_wide && spec.default_value) values_.emplace(spec.key, *spec.default_value);
  }
}

Result<void> StubBackend::check(const Option& option) const {
  const OptionSpec* spec = table_.find(option.key);
  if (spec == nullptr || !spec->process_wide) return fail(ErrorCode::kNotFound, "no process-wide key " + option.key);
  if (option.value.type() != spec->type) return fail(ErrorCode::kInvalidArgument, "wrong type for " + option.key);
  const std::int32_t* number = option.value.as_int();
  if (number != nullptr && (*number < spec->min || *number > spec->max)) {
    return fail(ErrorCode::kInvalidArgument, "out of range: " + option.key);
  }
  return {};
}

Result<void> StubBackend::set_option(std::span<const Option> options) {
  ++set_calls_;
  if (manner_ == StubManner::kOkToAnything) return {};
  for (const Option& option : options)
    PTERUN_TRY(check(option));
  for (const Option& option : options) {
    if (option.key == "flush") {
      flushes_ += option.value == OptionValue(true) ? 1 : 0;
    } else if (manner_ != StubManner::kDrops) {
      values_.at(option.key) = option.value;
    }
  }
  return {};
}

Result<OptionValue> StubBackend::get_option(std::string_view key) const {
  if (manner_ == StubManner::kOkToAnything) return OptionValue(false);
  const auto found = values_.find(key);
  if (found == values_.end()) return fail(ErrorCode::kNotFound, "no process-wide value " + std::string(key));
  return found->second;
}

Result<std::unique_ptr<backend::Delegate>> StubBackend::init(const backend::InitContext& context, Bytes,
                                                             std::span<const backend::CompileSpec>) {
  inits_.push_back({std::string(context.method),
                    context.delegate_index,
                    {context.load_options.begin(), context.load_options.end()}});
  std::vector<backend::OptionEffect> effects;
  for (const OptionSpec& spec : table_.specs) {
    if (spec.action || !spec.default_value) continue;
    OptionValue value = *spec.default_value;
    if (manner_ == StubManner::kHonest || manner_ == StubManner::kDrops) {
      const OptionValue* load = context.load_option(spec.key);
      const auto stored = values_.find(spec.key);
      if (load != nullptr) {
        if (load->type() != spec.type) return fail(ErrorCode::kInvalidArgument, "wrong type for " + spec.key);
        const std::int32_t* number = load->as_int();
        if (number != nullptr && (*number < spec.min || *number > spec.max)) {
          return fail(ErrorCode::kInvalidArgument, "out of range: " + spec.key);
        }
        value = *load;
      } else if (stored != values_.end()) {
        value = stored->second;
      }
    }
    effects.push_back({spec.key, std::move(value), "stub"});
  }
  return std::make_unique<StubDelegate>(std::move(effects));
}

}  // namespace pterun::test
