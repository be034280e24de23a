// Flags as a tree of the same shape as a config file's.
#include <algorithm>
#include <map>

#include "base/suggest.h"
#include "base/utf8.h"
#include "config/document.h"
#include "config/layers.h"
#include "config/settings.h"

namespace pterun::config {
namespace {

// NAME=REST at the first `=`.
struct Named {
  std::string name;
  std::string rest;
};

Result<Named> split_named(const std::string& text, const Origin& origin, const std::string& form) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return fail(setting_error(origin, "expected " + form + ", found " + in_quotes(text)));
  }
  return Named{text.substr(0, equals), text.substr(equals + 1)};
}

class FlagReader {
 public:
  explicit FlagReader(Command command) : command_(command) {}

  Result<void> read(const FlagValue& flag);
  Result<FlagLayer> finish() &&;

 private:
  Result<void> read_structured(const FlagValue& flag, const Origin& origin);
  Result<void> read_input(const std::string& text, const Origin& origin);
  Result<void> read_tolerance(const FlagValue& flag, const Origin& origin);
  Result<void> read_named(const char* setting, const FlagValue& flag, const Origin& origin, const std::string& form);
  Result<void> read_axis(const std::string& text, const Origin& origin);
  Result<void> read_flag_only(const FlagValue& flag, const Origin& origin);
  void add_to_array(std::string_view setting, Node item);
  Node& place(std::string_view pointer);
  std::size_t uses(std::string_view flag) const { return uses_.at(std::string(flag)); }

  Command command_;
  std::map<std::string, std::size_t> uses_;
  FlagLayer result_;
  int verbosity_ = 0;
  std::string progress_;
  Origin progress_origin_;
  Origin verbosity_origin_;
};

// The parent's node of a pointer's last token is made on the way.
Node& FlagReader::place(std::string_view pointer) {
  Node* node = &result_.layer.root;
  pointer.remove_prefix(1);
  for (std::size_t slash = pointer.find('/'); slash != std::string_view::npos; slash = pointer.find('/')) {
    node = &node->child(pointer.substr(0, slash), {});
    pointer.remove_prefix(slash + 1);
  }
  return *node;
}

void FlagReader::add_to_array(std::string_view pointer, Node item) {
  Node& parent = place(pointer);
  const std::string_view name = pointer.substr(pointer.rfind('/') + 1);
  if (parent.find(name) == nullptr) parent.set(name, Node::make_array(item.origin));
  parent.find(name)->items.push_back(std::move(item));
}

Result<void> FlagReader::read(const FlagValue& flag) {
  const SettingRow* row = find_flag(command_, flag.flag);
  if (row == nullptr) return fail(ErrorCode::kUsage, "unknown flag " + in_quotes(flag.flag));
  const std::size_t use = ++uses_[flag.flag];
  Origin origin{Origin::Kind::kFlag, flag.flag, "", 0};
  if (row->flag.repeatable) {
    if (!row->flag.is_switch()) origin.source += " #" + std::to_string(use);
  } else if (use > 1) {
    return fail(
        setting_error(origin, "expected it once, found it twice, the second time with " + in_quotes(flag.text)));
  }
  if (row->kind == SettingKind::kStructured) return read_structured(flag, origin);
  if (row->pointer.empty()) return read_flag_only(flag, origin);

  PTERUN_ASSIGN(Node value, parse_setting(*row, flag.text, origin));
  if (row->kind == SettingKind::kPaths || row->kind == SettingKind::kTexts) {
    add_to_array(row->pointer, std::move(value));
  } else {
    place(row->pointer).set(row->pointer.substr(row->pointer.rfind('/') + 1), std::move(value));
  }
  return {};
}

Result<void> FlagReader::read_flag_only(const FlagValue& flag, const Origin& origin) {
  const bool both_ways = (flag.flag == "--progress" && progress_ == "never") ||
                         (flag.flag == "--no-progress" && progress_ == "always") ||
                         (flag.flag == "--quiet" && verbosity_ > 0) || (flag.flag == "--verbose" && verbosity_ < 0);
  if (both_ways) return fail(setting_error(origin, "contradicts another flag of this command line"));
  if (flag.flag == "--progress" || flag.flag == "--no-progress") {
    progress_ = flag.flag == "--progress" ? "always" : "never";
    progress_origin_ = origin;
  } else if (flag.flag == "--quiet" || flag.flag == "--verbose") {
    verbosity_ += flag.flag == "--quiet" ? -1 : 1;
    verbosity_origin_ = origin;
  } else if (flag.flag == "--print-config") {
    result_.config.print = true;
  } else if (flag.text.empty()) {
    return fail(setting_error(origin, "expected a text, found an empty one"));
  } else if (flag.flag == "--config") {
    result_.config.path = flag.text;
  } else if (flag.flag == "--config-profile") {
    result_.config.profile = flag.text;
  } else {
    result_.config.overrides.push_back(flag.text);
  }
  return {};
}

Result<void> FlagReader::read_structured(const FlagValue& flag, const Origin& origin) {
  if (flag.flag == "--global-option" || flag.flag == "--load-option") {
    const auto path = flag.flag == "--global-option" ? options::OptionPath::kGlobal : options::OptionPath::kLoad;
    PTERUN_ASSIGN(auto request, options::parse_flag(flag.text, path, uses(flag.flag)));
    result_.layer.requests.push_back(std::move(request));
    return {};
  }
  if (!is_utf8(flag.text)) return fail(setting_error(origin, "expected UTF-8, found " + in_quotes(flag.text)));
  if (flag.flag == "--input") return read_input(flag.text, origin);
  if (flag.flag == "--inputs") {
    if (flag.text.empty()) return fail(setting_error(origin, "expected a path, found an empty text"));
    Node item = Node::make_object(origin);
    item.set("input", Node::make_string("*", origin));
    item.set("spec", Node::make_string(flag.text, origin));
    add_to_array("/inputs", std::move(item));
    return {};
  }
  if (flag.flag == "--shape") return read_named("/shapes", flag, origin, "INDEX=SIZES such as 0=1x3x224x224");
  if (flag.flag == "--input-dim-order") {
    return read_named("/input_dim_orders", flag, origin, "INDEX=ORDER such as 0=0,2,3,1");
  }
  if (flag.flag == "--axis") return read_axis(flag.text, origin);
  return read_tolerance(flag, origin);
}

Result<void> FlagReader::read_input(const std::string& text, const Origin& origin) {
  const std::size_t equals = text.find('=');
  if (text.empty() || equals == 0 || equals + 1 == text.size()) {
    return fail(setting_error(origin, "expected [NAME|INDEX=]SPEC, found " + in_quotes(text)));
  }
  Node item = Node::make_object(origin);
  if (equals != std::string::npos) item.set("input", Node::make_string(text.substr(0, equals), origin));
  item.set("spec", Node::make_string(equals == std::string::npos ? text : text.substr(equals + 1), origin));
  add_to_array("/inputs", std::move(item));
  return {};
}

Result<void> FlagReader::read_named(const char* setting, const FlagValue& flag, const Origin& origin,
                                    const std::string& form) {
  PTERUN_ASSIGN(const Named named, split_named(flag.text, origin, form));
  Node& parent = result_.layer.root.child(std::string_view(setting).substr(1), origin);
  if (parent.find(named.name) != nullptr) {
    return fail(setting_error(origin, "input " + in_quotes(named.name) + " is given twice"));
  }
  parent.set(named.name, Node::make_string(named.rest, origin));
  return {};
}

Result<void> FlagReader::read_tolerance(const FlagValue& flag, const Origin& origin) {
  const std::size_t colon = flag.text.rfind(':');
  const std::string output = colon == std::string::npos ? "" : flag.text.substr(0, colon);
  const std::string text = colon == std::string::npos ? flag.text : flag.text.substr(colon + 1);
  if (text.empty() || colon == 0) {
    return fail(setting_error(origin, "expected [OUTPUT:]" + std::string(flag.flag == "--tolerance" ? "BOUNDS" : "V") +
                                          ", found " + in_quotes(flag.text)));
  }
  Node* node = &result_.layer.root.child("tolerance", origin);
  if (!output.empty()) node = &node->child("outputs", origin).child(output, origin);
  const std::string name = flag.flag == "--tolerance" ? "bounds" : flag.flag.substr(2);
  if (node->find(name) != nullptr) {
    return fail(setting_error(origin, output.empty() ? "expected it once for all outputs, found it twice"
                                                     : "output " + in_quotes(output) + " is given twice"));
  }
  if (name == "bounds") {
    node->set(name, Node::make_string(text, origin));
    return {};
  }
  static constexpr SettingRow kBound = {{}, "", SettingKind::kNumber, 0, 0, 1e300};
  PTERUN_ASSIGN(Node value, parse_setting(kBound, text, origin));
  node->set(name, std::move(value));
  return {};
}

// NAME=V1,V2: names are brought to those of a config's "matrix".
Result<void> FlagReader::read_axis(const std::string& text, const Origin& origin) {
  PTERUN_ASSIGN(Named axis, split_named(text, origin, "NAME=V1,V2,..."));
  const bool global = axis.name.starts_with("global:");
  if (global) axis.name = "global_options." + axis.name.substr(7);
  if (!global && axis.name.find('.') != std::string::npos && !axis.name.starts_with("load_options.") &&
      !axis.name.starts_with("global_options.")) {
    axis.name = "load_options." + axis.name;
  }
  Node values = Node::make_array(origin);
  for (std::size_t begin = 0; begin <= axis.rest.size();) {
    const std::size_t comma = std::min(axis.rest.find(',', begin), axis.rest.size());
    if (comma == begin) return fail(setting_error(origin, "expected values between commas, found an empty one"));
    values.items.push_back(Node::make_string(axis.rest.substr(begin, comma - begin), origin));
    begin = comma + 1;
  }
  Node& matrix = result_.layer.root.child("matrix", origin);
  if (matrix.find(axis.name) != nullptr) {
    return fail(setting_error(origin, "axis " + in_quotes(axis.name) + " is given twice"));
  }
  matrix.set(axis.name, std::move(values));
  return {};
}

Result<FlagLayer> FlagReader::finish() && {
  if (!progress_.empty()) place("/output/progress").set("progress", Node::make_string(progress_, progress_origin_));
  if (verbosity_ != 0) {
    place("/output/verbosity").set("verbosity", Node::make_integer(verbosity_, verbosity_origin_));
  }
  return std::move(result_);
}

}  // namespace

Result<FlagLayer> make_flag_layer(Command command, const std::vector<FlagValue>& flags) {
  FlagReader reader(command);
  for (const FlagValue& flag : flags)
    PTERUN_TRY(reader.read(flag));
  return std::move(reader).finish();
}

}  // namespace pterun::config
