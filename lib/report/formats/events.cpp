// Lines of events.
#include "report/formats/events.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace pterun::report {
namespace {

// In the order given, unlike in reports: a reader of the stream sees the event's name first.
using json = nlohmann::ordered_json;

json value_json(const EventField::Value& value) {
  const double* number = std::get_if<double>(&value);
  if (number != nullptr && !std::isfinite(*number)) {
    return std::isnan(*number) ? "NaN" : *number > 0 ? "Infinity" : "-Infinity";
  }
  return std::visit([](const auto& held) { return json(held); }, value);
}

EventField::Value option_field(const options::OptionValue& option) {
  if (const bool* flag = option.as_bool()) return *flag;
  if (const std::int32_t* integer = option.as_int()) return std::int64_t{*integer};
  return *option.as_string();
}

}  // namespace

EventField::EventField(std::string_view field, const options::OptionValue& option)
    : name(field), value(option_field(option)) {}

std::string event_line(std::string_view name, std::int64_t at_ns, const EventFields& fields) {
  json line = {{"event", name}, {"at_ns", at_ns}};
  for (const EventField& field : fields)
    line[field.name] = value_json(field.value);
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace pterun::report
