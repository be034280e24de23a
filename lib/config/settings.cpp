// Look-up in the table of settings, and the checks that follow from its rows.
#include "config/settings.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "base/suggest.h"
#include "base/utf8.h"
#include "config/document.h"

namespace pterun::config {
namespace {

using Kind = SettingKind;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string shortest(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

std::string describe_range(const SettingRow& row) {
  return row.max >= kUnbounded ? "of at least " + shortest(row.min)
                               : "from " + shortest(row.min) + " to " + shortest(row.max);
}

std::string join_choices(std::string_view choices) {
  std::string text;
  for (const std::string_view choice : split(choices, '|'))
    text += (text.empty() ? "" : ", ") + std::string(choice);
  return text;
}

std::string describe_kind(const SettingRow& row) {
  switch (row.kind) {
    case Kind::kText: return "a string";
    case Kind::kPath: return "a path";
    case Kind::kPaths: return "a path or an array of paths";
    case Kind::kTexts: return "a string or an array of strings";
    case Kind::kChoice:
      return row.flag.choices.find('|') == std::string_view::npos ? "'" + std::string(row.flag.choices) + "'"
                                                                  : "one of " + join_choices(row.flag.choices);
    case Kind::kSwitch: return "true or false";
    case Kind::kInteger: return "an integer " + describe_range(row);
    case Kind::kNumber: return "a number " + describe_range(row);
    case Kind::kShare: return "a percentage such as \"1%\", or a number from 0 to 1";
    case Kind::kStructured: break;
  }
  return "a value";
}

Error wrong_value(const SettingRow& row, const Origin& origin, const std::string& found) {
  return setting_error(origin, "expected " + describe_kind(row) + ", found " + found);
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> parse_share(std::string_view text) {
  if (!text.ends_with('%')) return parse_number(text);
  const auto percent = parse_number(text.substr(0, text.size() - 1));
  return percent ? std::optional(*percent / 100) : std::nullopt;
}

bool in_range(const SettingRow& row, double value) {
  return value >= row.min && value <= row.max;
}

bool all_strings(const Node& value) {
  for (const Node& item : value.items) {
    if (!item.is(Node::Kind::kString)) return false;
  }
  return true;
}

// Names that may follow `prefix` ("" for the top), and whether `prefix` itself is a setting.
struct Children {
  std::vector<std::string_view> names;
  const SettingRow* row = nullptr;
};

Children children_of(std::string_view prefix) {
  Children children;
  for (const SettingRow& row : setting_rows()) {
    if (row.pointer.empty() || !row.pointer.starts_with(prefix)) continue;
    const std::string_view rest = row.pointer.substr(prefix.size());
    if (rest.empty()) children.row = &row;
    if (rest.starts_with('/')) children.names.push_back(split(rest.substr(1), '/').front());
  }
  return children;
}

Result<void> check_names_below(const Node& node, const std::string& prefix) {
  for (std::size_t i = 0; i < node.names.size(); ++i) {
    const std::string& name = node.names[i];
    const std::string pointer = prefix + "/" + pointer_token(name);
    const Children children = children_of(pointer);
    if (children.row != nullptr) continue;
    const Node& child = node.items[i];
    if (children.names.empty()) {
      const auto known = children_of(prefix).names;
      return fail(
          setting_error(child.origin, "unknown setting " + in_quotes(name)).with_hint(did_you_mean(name, known)));
    }
    if (child.is(Node::Kind::kNull)) continue;
    if (!child.is(Node::Kind::kObject)) {
      return fail(setting_error(child.origin, "expected an object, found " + child.describe()));
    }
    PTERUN_TRY(check_names_below(child, pointer));
  }
  return {};
}

}  // namespace

std::vector<FlagSpec> plan_flags(Command command) {
  std::vector<FlagSpec> flags;
  for (const SettingRow& row : setting_rows()) {
    if (row.known_to(command) && !row.flag.name.empty()) flags.push_back(row.flag);
  }
  return flags;
}

const SettingRow* find_flag(Command command, std::string_view flag) {
  for (const SettingRow& row : setting_rows()) {
    if (row.known_to(command) && row.flag.name == flag) return &row;
  }
  return nullptr;
}

const SettingRow* find_row(std::string_view pointer) {
  for (const SettingRow& row : setting_rows()) {
    if (row.pointer == pointer) return &row;
  }
  return nullptr;
}

double share_of(const Node& value) {
  return value.is(Node::Kind::kString) ? parse_share(value.text).value_or(0) : value.number;
}

Result<void> check_setting(const SettingRow& row, const Node& value) {
  if (value.is(Node::Kind::kNull)) return {};
  bool good = false;
  switch (row.kind) {
    case Kind::kText:
    case Kind::kPath: good = value.is(Node::Kind::kString); break;
    case Kind::kPaths:
    case Kind::kTexts:
      good = value.is(Node::Kind::kString) || (value.is(Node::Kind::kArray) && all_strings(value));
      break;
    case Kind::kChoice:
      for (const std::string_view choice : split(row.flag.choices, '|')) {
        good = good || (value.is(Node::Kind::kString) && value.text == choice);
      }
      if (!good && value.is(Node::Kind::kString)) {
        return fail(wrong_value(row, value.origin, in_quotes(value.text))
                        .with_hint(did_you_mean(value.text, split(row.flag.choices, '|'))));
      }
      break;
    case Kind::kSwitch: good = value.is(Node::Kind::kBool); break;
    case Kind::kInteger: good = value.is(Node::Kind::kInteger) && !value.huge && in_range(row, value.number); break;
    case Kind::kNumber:
      good = (value.is(Node::Kind::kInteger) || value.is(Node::Kind::kFloat)) && in_range(row, value.number);
      break;
    case Kind::kShare: {
      const bool text = value.is(Node::Kind::kString);
      const auto share = text ? parse_share(value.text) : std::optional(value.number);
      good = (text || value.is(Node::Kind::kInteger) || value.is(Node::Kind::kFloat)) && share && in_range(row, *share);
      break;
    }
    case Kind::kStructured: good = true; break;
  }
  if (good) return {};
  return fail(wrong_value(row, value.origin, value.describe()));
}

Result<Node> parse_setting(const SettingRow& row, const std::string& text, const Origin& origin) {
  Node value = Node::make_string(text, origin);
  const auto wrong = [&] { return fail(wrong_value(row, origin, in_quotes(text))); };
  if (!is_utf8(text)) return fail(setting_error(origin, "expected UTF-8, found " + in_quotes(text)));
  if (row.kind == Kind::kSwitch) value = Node::make_bool(text != "false", origin);
  if (row.kind == Kind::kInteger) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return wrong();
    value = Node::make_integer(number, origin);
    if (!in_range(row, value.number)) return wrong();
  }
  if (row.kind == Kind::kNumber || row.kind == Kind::kShare) {
    const auto number = row.kind == Kind::kShare ? parse_share(text) : parse_number(text);
    if (!number || !in_range(row, *number)) return wrong();
    if (!text.ends_with('%')) value = Node::make_number(*number, shortest(*number), origin);
  }
  if ((row.kind == Kind::kPath || row.kind == Kind::kText) && text.empty()) {
    return fail(wrong_value(row, origin, "an empty text"));
  }
  PTERUN_TRY(check_setting(row, value));
  return value;
}

Result<void> check_names(const Node& root) {
  return check_names_below(root, "");
}

const Node* find_pointer(const Node& root, std::string_view pointer) {
  const Node* node = &root;
  for (const std::string_view token : split(pointer.substr(1), '/')) {
    node = node->find(token);
    if (node == nullptr) return nullptr;
  }
  return node;
}

}  // namespace pterun::config
