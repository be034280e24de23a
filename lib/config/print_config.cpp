// Plans as text.
#include "config/print_config.h"

#include "config/document.h"
#include "config/settings.h"

namespace pterun::config {
namespace {

using Kind = Node::Kind;

Node option_node(const options::CheckedOption& option) {
  // The origin of an option is text already; it is printed through the flag's form.
  Origin origin{Origin::Kind::kFlag, option.source, "", 0};
  for (const options::ShadowedOption& shadowed : option.shadowed) {
    origin.source += ", over " + shadowed.value.to_string() + " of " + shadowed.source;
  }
  if (const bool* truth = option.value.as_bool()) return Node::make_bool(*truth, origin);
  if (const std::int32_t* number = option.value.as_int()) return Node::make_integer(*number, origin);
  return Node::make_string(*option.value.as_string(), origin);
}

void add_options(Node& root, std::string_view name, const std::vector<options::CheckedOption>& options) {
  for (const options::CheckedOption& option : options) {
    root.child(name, {}).child(option.backend, {}).set(option.key, option_node(option));
  }
}

Node with_options(const Plan& plan, const options::CheckedOptions& options) {
  Node root = plan.resolved;
  add_options(root, "global_options", options.global);
  add_options(root, "global_options", options.actions);
  add_options(root, "load_options", options.load);
  return root;
}

void add_defaults(Node& root, Command command) {
  for (const SettingRow& row : setting_rows()) {
    if (row.default_json.empty() || !row.known_to(command) || find_pointer(root, row.pointer) != nullptr) continue;
    std::string_view rest = row.pointer.substr(1);
    Node* node = &root;
    for (std::size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
      node = &node->child(rest.substr(0, slash), {});
      rest.remove_prefix(slash + 1);
    }
    node->set(rest, parse_value(std::string(row.default_json), {}));
  }
}

bool on_one_line(const Node& node) {
  for (const Node& item : node.items) {
    if (item.is(Kind::kObject) || item.is(Kind::kArray)) return false;
  }
  return !node.is(Kind::kObject) || node.items.empty();
}

void print(const Node& node, const std::string& indent, bool last, std::string& text) {
  const std::string end = last ? "" : ",";
  if (on_one_line(node)) {
    text += node.to_json() + end + "  // " + node.origin.describe() + "\n";
    return;
  }
  const bool array = node.is(Kind::kArray);
  text += array ? "[\n" : "{\n";
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    text += indent + "  ";
    if (!array) text += json_quoted(node.names[i]) + ": ";
    print(node.items[i], indent + "  ", i + 1 == node.items.size(), text);
  }
  text += indent + (array ? "]" : "}") + end + "\n";
}

}  // namespace

std::string annotated_config(const Plan& plan, Command command, const options::CheckedOptions& options) {
  Node root = with_options(plan, options);
  add_defaults(root, command);
  Node schema = Node::make_string("pterun.config/1", {});
  root.names.insert(root.names.begin(), "schema");
  root.items.insert(root.items.begin(), std::move(schema));
  std::string text;
  print(root, "", true, text);
  return text;
}

std::string resolved_config(const Plan& plan, const options::CheckedOptions& options) {
  return with_options(plan, options).to_json();
}

}  // namespace pterun::config
