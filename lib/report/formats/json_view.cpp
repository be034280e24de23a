// Looking things up in a document, and saying where they do not fit.
#include "report/formats/json_view.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace pterun::report {
namespace {

using nlohmann::json;

// A key as a part of a JSON pointer (RFC 6901).
std::string pointer_part(std::string_view key) {
  std::string part = "/";
  for (const char c : key) {
    if (c == '~') {
      part += "~0";
    } else if (c == '/') {
      part += "~1";
    } else {
      part += c;
    }
  }
  return part;
}

}  // namespace

void JsonView::fail_with(const std::string& expected) const {
  const json& value = *value_;
  std::string found = value.type_name();
  if (value.is_string()) found = in_quotes(value.get_ref<const std::string&>());
  if (value.is_number() || value.is_boolean()) found = value.dump();
  throw ReadFailure{pointer_, expected, found};
}

JsonView JsonView::at(std::string_view key) const {
  if (!value_->is_object()) fail_with("an object");
  const auto found = value_->find(key);
  if (found == value_->end()) throw ReadFailure{pointer_ + pointer_part(key), "a value", "nothing"};
  return JsonView(*found, pointer_ + pointer_part(key));
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  if (!value_->is_object()) fail_with("an object");
  const auto found = value_->find(key);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return JsonView(*found, pointer_ + pointer_part(key));
}

std::vector<JsonView> JsonView::items() const {
  if (!value_->is_array()) fail_with("an array");
  std::vector<JsonView> views;
  for (std::size_t i = 0; i < value_->size(); ++i)
    views.emplace_back((*value_)[i], fmt::format("{}/{}", pointer_, i));
  return views;
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
  if (!value_->is_object()) fail_with("an object");
  std::vector<std::pair<std::string, JsonView>> views;
  for (const auto& [name, member] : value_->items())
    views.emplace_back(name, JsonView(member, pointer_ + pointer_part(name)));
  return views;
}

std::vector<JsonView> JsonView::items_of(std::string_view key) const {
  const auto member = find(key);
  return member ? member->items() : std::vector<JsonView>();
}

void JsonView::get(std::string& target) const {
  if (!value_->is_string()) fail_with("a string");
  target = value_->get_ref<const std::string&>();
}

void JsonView::get(bool& target) const {
  if (!value_->is_boolean()) fail_with("true or false");
  target = value_->get<bool>();
}

void JsonView::get(std::int64_t& target) const {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool fits = !value_->is_number_unsigned() || value_->get<std::uint64_t>() <= kMost;
  if (!value_->is_number_integer() || !fits) fail_with("an integer");
  target = value_->get<std::int64_t>();
}

void JsonView::get(int& target) const {
  std::int64_t wide = 0;
  get(wide);
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) fail_with("a 32-bit integer");
  target = static_cast<int>(wide);
}

void JsonView::get(std::uint64_t& target) const {
  // A number made in memory may be signed and not negative; a parsed one that is not negative is unsigned.
  const bool negative = value_->is_number_integer() && !value_->is_number_unsigned() && value_->get<std::int64_t>() < 0;
  if (!value_->is_number_integer() || negative) fail_with("an integer of at least 0");
  target = value_->get<std::uint64_t>();
}

void JsonView::get(double& target) const {
  if (value_->is_number()) {
    target = value_->get<double>();
    return;
  }
  if (*value_ == "NaN") {
    target = std::numeric_limits<double>::quiet_NaN();
  } else if (*value_ == "Infinity") {
    target = std::numeric_limits<double>::infinity();
  } else if (*value_ == "-Infinity") {
    target = -std::numeric_limits<double>::infinity();
  } else {
    fail_with("a number");
  }
}

}  // namespace pterun::report
