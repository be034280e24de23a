// Setting, reading back and restoring, and the judgement of what came back.
#include "pterun/session/option_round_trip.h"

#include <optional>
#include <span>

#include <fmt/format.h>

#include "pterun/session/option_session.h"

namespace pterun::app {
namespace {

// Another value that the option may have; none for strings, whose values may mean files.
std::optional<options::OptionValue> other_value(const options::OptionSpec& spec, const options::OptionValue& value) {
  if (const bool* truth = value.as_bool()) return options::OptionValue(!*truth);
  const std::int32_t* number = value.as_int();
  if (number == nullptr || spec.min == spec.max) return std::nullopt;
  return options::OptionValue(*number == spec.min ? spec.max : spec.min);
}

// A request for the value in force would read back whatever the backend does, so another value is tried before it.
Result<void> probe(const options::CheckedOption& option, backend::BackendRegistry& registry) {
  const options::OptionSpec* spec = registry.find(option.backend)->option_table().find(option.key);
  PTERUN_ASSIGN(const options::OptionValue original, registry.get_option(option.backend, option.key));
  const auto other = spec == nullptr || original != option.value ? std::nullopt : other_value(*spec, original);
  if (!other) return {};
  const options::Option tried{option.key, *other};
  const options::Option before{option.key, original};
  PTERUN_TRY(registry.set_option(option.backend, std::span(&tried, 1)));
  const auto stored = registry.get_option(option.backend, option.key);
  PTERUN_TRY(registry.set_option(option.backend, std::span(&before, 1)));
  if (stored && *stored == *other) return {};
  return fail(make_error(ErrorCode::kEvidence,
                         fmt::format("{} (from {}) is {} already, and still reads back so after it was set to {}",
                                     option.name(), option.source, original.to_string(), other->to_string()))
                  .at("option", option.name())
                  .at("source", option.source)
                  .with_hint("the option has no effect in this backend"));
}

// Process-wide options must read back and be restored, load options must be taken: less is evidence missing.
Result<void> require_round_trip(const std::vector<report::OptionReport>& reports) {
  std::string wrong;
  const auto note = [&](const report::OptionReport& option, const std::string& what) {
    wrong +=
        fmt::format("{}{}.{} (from {}) {}", wrong.empty() ? "" : "; ", option.backend, option.key, option.source, what);
  };
  const auto shown = [](const std::optional<options::OptionValue>& value) {
    return value ? value->to_string() : std::string("nothing");
  };
  for (const report::OptionReport& option : reports) {
    if (option.path != options::OptionPath::kGlobal || option.action) continue;
    if (option.stored != option.requested) {
      note(option, fmt::format("was set to {} and reads back {}", option.requested.to_string(), shown(option.stored)));
    } else if (option.restored != option.original) {
      note(option, fmt::format("was restored to {} and reads back {}", shown(option.original), shown(option.restored)));
    }
  }
  if (wrong.empty()) return {};
  return fail(make_error(ErrorCode::kEvidence, "the backend accepted it, but " + wrong)
                  .with_hint("the option has no effect in this backend"));
}

}  // namespace

Result<void> check_round_trip(const config::OptionsPlan& plan, backend::BackendRegistry& registry, LogSink& log,
                              std::vector<report::OptionReport>& reports) {
  if (plan.requests.empty()) {
    return fail(make_error(ErrorCode::kUsage, "expected a --global-option or --load-option to check, found none")
                    .with_hint("`pterun options list` shows what there is"));
  }
  PTERUN_ASSIGN(OptionSession session, OptionSession::check(plan, registry, log));
  const auto work = [&]() -> Result<void> {
    for (const options::CheckedOption& option : session.checked().global)
      PTERUN_TRY(probe(option, registry));
    PTERUN_TRY(session.apply_process_wide());
    PTERUN_TRY(session.load_options());
    PTERUN_TRY(session.apply_actions());
    session.warn_idle_actions();
    return session.restore();
  };
  const auto worked = work();
  if (!worked) (void)session.restore();
  reports = session.reports();
  PTERUN_TRY(worked);
  PTERUN_TRY(require_round_trip(session.reports()));
  return session.require(*plan.require_evidence);
}

}  // namespace pterun::app
