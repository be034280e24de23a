// Forms and paths of settings.
#include "config/normalize.h"

#include <filesystem>

#include "base/suggest.h"
#include "base/utf8.h"
#include "config/document.h"
#include "config/layers.h"
#include "config/settings.h"

namespace pterun::config {
namespace {

using Kind = Node::Kind;

std::string in_folder(const std::string& path, const std::string& folder) {
  if (folder.empty() || path.empty() || path.starts_with('/')) return path;
  // "./zeros" stays as it is: without its folder it would read as a generator.
  if (folder == ".") return folder + "/" + path;
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

std::string spec_in_folder(const std::string& spec, const std::string& folder) {
  return is_generator(spec) ? spec : in_folder(spec, folder);
}

std::string reference_in_folder(const std::string& spec, const std::string& folder) {
  if (spec == "bundled" || spec == "executorch" || spec == "interpreter") return spec;
  for (const std::string_view scheme : {"pte:", "eager:"}) {
    if (spec.starts_with(scheme)) return std::string(scheme) + in_folder(spec.substr(scheme.size()), folder);
  }
  return in_folder(spec, folder);
}

Result<void> expect(const Node& node, Kind kind, const std::string& expected) {
  if (node.is(kind)) return {};
  return fail(setting_error(node.origin, "expected " + expected + ", found " + node.describe()));
}

Result<void> check_member_names(const Node& node, const std::vector<std::string_view>& known) {
  for (std::size_t i = 0; i < node.names.size(); ++i) {
    bool found = false;
    for (const std::string_view name : known)
      found = found || name == node.names[i];
    if (found) continue;
    return fail(setting_error(node.items[i].origin, "unknown setting " + in_quotes(node.names[i]))
                    .with_hint(did_you_mean(node.names[i], known)));
  }
  return {};
}

// {"file": PATH}, {"gen": GENERATOR} or {"spec": SPEC}, with "seed" and "shape", or SPEC alone.
// `target` is the key that it stood at, "" for none.
Result<Node> normalize_input(const Node& value, const std::string& target, const std::string& folder) {
  Node entry = Node::make_object(value.origin);
  if (!target.empty()) {
    entry.set("input", Node::make_string(target, value.origin));
  } else if (const Node* input = value.find("input")) {
    entry.set("input", *input);
  }
  if (value.is(Kind::kString)) {
    entry.set("spec", Node::make_string(spec_in_folder(value.text, folder), value.origin));
    return entry;
  }
  PTERUN_TRY(expect(value, Kind::kObject, "a spec (a string) or an object with \"file\" or \"gen\""));
  PTERUN_TRY(check_member_names(value, {"input", "file", "gen", "spec", "seed", "shape"}));
  for (const char* name : {"file", "gen", "spec"}) {
    const Node* spec = value.find(name);
    if (spec == nullptr) continue;
    PTERUN_TRY(expect(*spec, Kind::kString, "a string"));
    if (entry.find("spec") != nullptr) {
      return fail(setting_error(spec->origin, "expected one of file, gen and spec, found two"));
    }
    std::string text = spec_in_folder(spec->text, folder);
    if (std::string_view(name) == "gen" && !is_generator(spec->text)) {
      return fail(setting_error(spec->origin,
                                "expected zeros, ones, arange, const(V), uniform(LO,HI), normal(MU,SD) "
                                "or int(LO,HI), found " +
                                    in_quotes(spec->text)));
    }
    // A file named like a generator keeps a path's look.
    if (std::string_view(name) == "file") text = in_folder(spec->text, folder.empty() ? "." : folder);
    entry.set("spec", Node::make_string(std::move(text), spec->origin));
  }
  if (entry.find("spec") == nullptr) {
    return fail(setting_error(value.origin, "expected \"file\" or \"gen\", found neither"));
  }
  for (const char* name : {"seed", "shape"}) {
    if (const Node* member = value.find(name)) entry.set(name, *member);
  }
  return entry;
}

Result<void> normalize_inputs(Node& inputs, const std::string& folder) {
  Node entries = Node::make_array(inputs.origin);
  const auto add = [&](const Node& value, const std::string& target) -> Result<void> {
    PTERUN_ASSIGN(Node entry, normalize_input(value, target, folder));
    entries.items.push_back(std::move(entry));
    return {};
  };
  if (inputs.is(Kind::kString)) {
    PTERUN_TRY(add(inputs, "*"));
  } else if (inputs.is(Kind::kArray)) {
    for (const Node& item : inputs.items)
      PTERUN_TRY(add(item, ""));
  } else {
    PTERUN_TRY(expect(inputs, Kind::kObject, "a file, an array of specs or an object {NAME or INDEX: SPEC}"));
    for (std::size_t i = 0; i < inputs.items.size(); ++i)
      PTERUN_TRY(add(inputs.items[i], inputs.names[i]));
  }
  inputs = std::move(entries);
  return {};
}

Result<void> normalize_bounds(Node& node, const std::vector<std::string_view>& names) {
  if (node.is(Kind::kString)) {
    Node object = Node::make_object(node.origin);
    object.set("bounds", Node::make_string(node.text, node.origin));
    node = std::move(object);
  }
  PTERUN_TRY(expect(node, Kind::kObject, "bounds (a string) or an object with \"atol\", \"rtol\" or \"bounds\""));
  PTERUN_TRY(check_member_names(node, names));
  static constexpr SettingRow kBound = {{}, "", SettingKind::kNumber, 0, 0, 1e300};
  for (const char* name : {"atol", "rtol"}) {
    if (const Node* bound = node.find(name)) PTERUN_TRY(check_setting(kBound, *bound));
  }
  const Node* bounds = node.find("bounds");
  if (bounds == nullptr) return {};
  PTERUN_TRY(expect(*bounds, Kind::kString, "a string such as \"cosine>=0.999\""));
  if (node.find("atol") == nullptr && node.find("rtol") == nullptr) return {};
  return fail(setting_error(bounds->origin, "expected either atol and rtol or bounds on metrics, found both"));
}

Result<void> normalize_tolerance(Node& tolerance) {
  PTERUN_TRY(normalize_bounds(tolerance, {"atol", "rtol", "bounds", "outputs"}));
  Node* outputs = tolerance.find("outputs");
  if (outputs == nullptr) return {};
  PTERUN_TRY(expect(*outputs, Kind::kObject, "an object {OUTPUT: TOLERANCE}"));
  for (Node& output : outputs->items)
    PTERUN_TRY(normalize_bounds(output, {"atol", "rtol", "bounds"}));
  return {};
}

// What a step and the whole config have in common.
Result<void> normalize_step(Node& step, const std::string& folder) {
  const auto present = [&](const char* name) {
    Node* node = step.find(name);
    return node == nullptr || node->is(Kind::kNull) ? nullptr : node;
  };
  if (Node* inputs = present("inputs")) PTERUN_TRY(normalize_inputs(*inputs, folder));
  if (Node* tolerance = present("tolerance")) PTERUN_TRY(normalize_tolerance(*tolerance));
  if (Node* reference = present("reference")) {
    PTERUN_TRY(expect(*reference, Kind::kString, "a string"));
    reference->text = reference_in_folder(reference->text, folder);
  }
  if (const Node* shapes = present("shapes")) {
    PTERUN_TRY(expect(*shapes, Kind::kObject, "an object {NAME or INDEX: SIZES}"));
  }
  if (Node* orders = present("input_dim_orders"); orders != nullptr && orders->is(Kind::kArray)) {
    Node object = Node::make_object(orders->origin);
    for (std::size_t i = 0; i < orders->items.size(); ++i) {
      if (!orders->items[i].is(Kind::kNull)) object.set(std::to_string(i), orders->items[i]);
    }
    *orders = std::move(object);
  } else if (orders != nullptr) {
    PTERUN_TRY(expect(*orders, Kind::kObject, "an array of orders or an object {NAME or INDEX: ORDER}"));
  }
  return {};
}

// The node of a row, through null-free objects.
Node* find_mutable(Node& root, std::string_view pointer) {
  return const_cast<Node*>(find_pointer(root, pointer));
}

void resolve_path(const SettingRow& row, Node& value, const std::string& folder) {
  const bool is_path = row.kind == SettingKind::kPath || row.kind == SettingKind::kPaths;
  if (!is_path || row.pointer == "/extends") return;
  const auto resolve = [&](Node& node) {
    // "-" is stdout, and a program without a slash is looked up by the shell's rules.
    const bool as_is = node.text == "-" || (row.pointer == "/python" && node.text.find('/') == std::string::npos);
    if (node.is(Kind::kString) && !as_is) node.text = in_folder(node.text, folder);
  };
  resolve(value);
  for (Node& item : value.items)
    resolve(item);
}

Result<void> check_scalars(const Node& node) {
  for (const Node& item : node.items) {
    if (!item.is(Kind::kArray) && !item.is(Kind::kObject) && !item.is(Kind::kNull)) continue;
    return fail(setting_error(item.origin, "expected a bool, a number or a string, found " + item.describe()));
  }
  return {};
}

Result<void> check_cell(const Node& cell) {
  PTERUN_TRY(expect(cell, Kind::kObject, "an object {AXIS: VALUE}"));
  return check_scalars(cell);
}

Result<void> check_matrix(const Node& matrix) {
  PTERUN_TRY(expect(matrix, Kind::kObject, "an object {AXIS: [VALUES]}"));
  for (std::size_t i = 0; i < matrix.names.size(); ++i) {
    const Node& value = matrix.items[i];
    if (value.is(Kind::kNull)) continue;
    if (matrix.names[i] == "baseline") {
      PTERUN_TRY(check_cell(value));
      continue;
    }
    PTERUN_TRY(expect(value, Kind::kArray, "an array"));
    if (value.items.empty()) return fail(setting_error(value.origin, "expected at least one value, found none"));
    if (matrix.names[i] != "exclude") {
      PTERUN_TRY(check_scalars(value));
      continue;
    }
    for (const Node& cell : value.items)
      PTERUN_TRY(check_cell(cell));
  }
  return {};
}

}  // namespace

Result<void> normalize(Node& root, const std::string& folder) {
  PTERUN_TRY(check_names(root));
  for (const SettingRow& row : setting_rows()) {
    if (row.pointer.empty()) continue;
    Node* value = find_mutable(root, row.pointer);
    if (value == nullptr) continue;
    PTERUN_TRY(check_setting(row, *value));
    // Two rows may share a pointer (MODEL of run and of bench); the path is resolved with the first.
    if (&row == find_row(row.pointer)) resolve_path(row, *value, folder);
  }
  PTERUN_TRY(normalize_step(root, folder));
  if (const Node* matrix = root.find("matrix"); matrix != nullptr && !matrix->is(Kind::kNull)) {
    PTERUN_TRY(check_matrix(*matrix));
  }
  Node* steps = root.find("steps");
  if (steps == nullptr || steps->is(Kind::kNull)) return {};
  PTERUN_TRY(expect(*steps, Kind::kArray, "an array of steps"));
  if (steps->items.empty()) return fail(setting_error(steps->origin, "expected at least one step, found none"));
  for (Node& step : steps->items) {
    PTERUN_TRY(expect(step, Kind::kObject, "an object"));
    PTERUN_TRY(check_member_names(step, {"method", "inputs", "shapes", "input_dim_orders", "reference",
                                         "reference_kind", "labels", "tolerance"}));
    if (const Node* method = step.find("method"); method != nullptr && !method->is(Kind::kNull)) {
      PTERUN_TRY(expect(*method, Kind::kString, "a string"));
    }
    PTERUN_TRY(normalize_step(step, folder));
    if (const Node* kind = step.find("reference_kind"); kind != nullptr && !kind->is(Kind::kNull)) {
      PTERUN_TRY(check_setting(*find_row("/reference_kind"), *kind));
    }
    if (Node* labels = step.find("labels"); labels != nullptr && !labels->is(Kind::kNull)) {
      PTERUN_TRY(check_setting(*find_row("/labels"), *labels));
      resolve_path(*find_row("/labels"), *labels, folder);
    }
  }
  return {};
}

}  // namespace pterun::config
