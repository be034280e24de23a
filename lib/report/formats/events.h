// Events of a command as JSON Lines, schema "pterun.events/1" (configs/schema/events.schema.json): one object a line,
// in the order in which things happen, so that a watcher knows how far a run is, and a run that crashed how far it
// came.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "options/option_value.h"

namespace pterun::report {

// One member of an event's object. Numbers that are NaN or infinite become strings, as in reports.
struct EventField {
  using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

  EventField(std::string_view field, bool flag) : name(field), value(flag) {}
  EventField(std::string_view field, int number) : name(field), value(std::int64_t{number}) {}
  EventField(std::string_view field, std::int64_t number) : name(field), value(number) {}
  EventField(std::string_view field, std::uint64_t number) : name(field), value(static_cast<std::int64_t>(number)) {}
  EventField(std::string_view field, double number) : name(field), value(number) {}
  EventField(std::string_view field, std::string text) : name(field), value(std::move(text)) {}
  EventField(std::string_view field, std::string_view text) : name(field), value(std::string(text)) {}
  EventField(std::string_view field, const char* text) : name(field), value(std::string(text)) {}
  EventField(std::string_view field, std::vector<std::string> texts) : name(field), value(std::move(texts)) {}
  EventField(std::string_view field, const options::OptionValue& option);

  std::string name;
  Value value;
};
using EventFields = std::vector<EventField>;

// {"event": name, "at_ns": at_ns, then the fields}, with the final newline. `at_ns` is since the command began.
std::string event_line(std::string_view name, std::int64_t at_ns, const EventFields& fields);

}  // namespace pterun::report
