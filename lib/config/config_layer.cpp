// Config files with what they extend, the chosen profile, and --set, as one layer.
#include <algorithm>
#include <utility>

#include "base/suggest.h"
#include "base/utf8.h"
#include "config/document.h"
#include "config/layers.h"
#include "config/normalize.h"

namespace pterun::config {
namespace {

constexpr std::size_t kMaxExtends = 16;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, std::max<std::size_t>(slash, 1));
}

std::string join_path(const std::string& folder, const std::string& path) {
  return folder.empty() || path.starts_with('/') ? path : folder + "/" + path;
}

class ConfigReader {
 public:
  ConfigReader(const ConfigChoice& choice, std::vector<Shadowed>& shadowed) : choice_(choice), shadowed_(shadowed) {}

  Result<Layer> read();

 private:
  Result<void> read_file(const std::string& path);
  Result<void> read_extended(const Node& root, const std::string& path);
  Result<void> read_profiles(Node& root, const std::string& folder);
  Result<void> apply_profile();
  Result<void> apply_overrides();
  Result<void> add(Node root);

  const ConfigChoice& choice_;
  std::vector<Shadowed>& shadowed_;
  std::vector<std::string> open_files_;  // those that extend the one being read, outermost first
  std::vector<std::string> profile_names_;
  std::vector<Node> overlays_;  // of the chosen profile, in the order of the files
  int next_layer_ = 1;
  Layer layer_;
};

// Puts a normalised tree on top of what there is.
Result<void> ConfigReader::add(Node root) {
  PTERUN_ASSIGN(auto requests, take_options(root, next_layer_++));
  std::ranges::move(requests, std::back_inserter(layer_.requests));
  merge(layer_.root, root, "", &shadowed_);
  return {};
}

Result<void> ConfigReader::read_file(const std::string& path) {
  PTERUN_ASSIGN(Node root, load_document(path));
  if (!root.is(Node::Kind::kObject)) {
    return fail(setting_error(root.origin, "expected an object, found " + root.describe()));
  }
  PTERUN_TRY(read_extended(root, path));
  const std::string folder = folder_of(path);
  PTERUN_TRY(read_profiles(root, folder));
  PTERUN_TRY(normalize(root, folder));
  for (const char* name : {"extends", "profiles", "schema", "$schema"})
    root.erase(name);
  return add(std::move(root));
}

Result<void> ConfigReader::read_extended(const Node& root, const std::string& path) {
  const Node* extends = root.find("extends");
  if (extends == nullptr) return {};
  open_files_.push_back(path);
  const auto read_one = [&](const Node& node) -> Result<void> {
    if (!node.is(Node::Kind::kString)) {
      return fail(setting_error(node.origin, "expected a path or an array of paths, found " + node.describe()));
    }
    const std::string base = join_path(folder_of(path), node.text);
    if (std::ranges::find(open_files_, base) != open_files_.end() || open_files_.size() > kMaxExtends) {
      return fail(setting_error(node.origin,
                                "expected a config that does not extend this one in turn, found " + in_quotes(base)));
    }
    auto read = read_file(base);
    if (!read) return fail(std::move(read).error().at("extended by", node.origin.describe()));
    return {};
  };
  if (extends->is(Node::Kind::kArray)) {
    for (const Node& node : extends->items)
      PTERUN_TRY(read_one(node));
  } else {
    PTERUN_TRY(read_one(*extends));
  }
  open_files_.pop_back();
  return {};
}

// Checks every profile; the chosen one is kept until all files are read, because it wins over all of them.
Result<void> ConfigReader::read_profiles(Node& root, const std::string& folder) {
  Node* profiles = root.find("profiles");
  if (profiles == nullptr || profiles->is(Node::Kind::kNull)) return {};
  if (!profiles->is(Node::Kind::kObject)) {
    return fail(setting_error(profiles->origin, "expected an object {NAME: SETTINGS}, found " + profiles->describe()));
  }
  for (std::size_t i = 0; i < profiles->names.size(); ++i) {
    Node& profile = profiles->items[i];
    if (!profile.is(Node::Kind::kObject)) {
      return fail(setting_error(profile.origin, "expected an object of settings, found " + profile.describe()));
    }
    for (const char* name : {"extends", "profiles", "schema"}) {
      if (const Node* inner = profile.find(name)) {
        return fail(setting_error(inner->origin, "a profile holds settings, found " + in_quotes(name)));
      }
    }
    PTERUN_TRY(normalize(profile, folder));
    profile_names_.push_back(profiles->names[i]);
    if (profiles->names[i] == choice_.profile) overlays_.push_back(profile);
    PTERUN_TRY(take_options(profile, 0));
  }
  return {};
}

Result<void> ConfigReader::apply_profile() {
  if (choice_.profile.empty()) return {};
  if (overlays_.empty()) {
    const std::vector<std::string_view> names(profile_names_.begin(), profile_names_.end());
    std::string known;
    for (const std::string_view name : names)
      known += (known.empty() ? "" : ", ") + std::string(name);
    const Origin origin{Origin::Kind::kFlag, "--config-profile", "", 0};
    return fail(setting_error(origin, "expected a profile of the config (" + (known.empty() ? "it has none" : known) +
                                          "), found " + in_quotes(choice_.profile))
                    .with_hint(did_you_mean(choice_.profile, names)));
  }
  for (Node& overlay : overlays_)
    PTERUN_TRY(add(std::move(overlay)));
  return {};
}

std::string unescaped(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1');
    text += escape ? (token[++i] == '0' ? '~' : '/') : token[i];
  }
  return text;
}

// "bench.min_runs" or "/bench/min_runs" as tokens. Axes of a matrix have dots in their names.
std::vector<std::string> pointer_tokens(std::string_view text) {
  std::vector<std::string> tokens;
  const bool pointer = text.starts_with('/');
  const char separator = pointer ? '/' : '.';
  if (pointer) text.remove_prefix(1);
  while (true) {
    const bool axis = !pointer && tokens.size() == 1 && tokens.front() == "matrix";
    const std::size_t end = axis ? std::string_view::npos : text.find(separator);
    const std::string_view token = text.substr(0, end);
    tokens.push_back(pointer ? unescaped(token) : std::string(token));
    if (end == std::string_view::npos) return tokens;
    text.remove_prefix(end + 1);
  }
}

Result<void> ConfigReader::apply_overrides() {
  Node overlay = Node::make_object({});
  for (std::size_t i = 0; i < choice_.overrides.size(); ++i) {
    const std::string& text = choice_.overrides[i];
    Origin origin{Origin::Kind::kOverride, "--set #" + std::to_string(i + 1), "", 0};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(setting_error({Origin::Kind::kFlag, origin.source, "", 0},
                                "expected POINTER=VALUE such as bench.min_runs=50, found " + in_quotes(text)));
    }
    Node* node = &overlay;
    const auto tokens = pointer_tokens(std::string_view(text).substr(0, equals));
    for (const std::string& token : tokens)
      origin.pointer += "/" + pointer_token(token);
    for (std::size_t t = 0; t + 1 < tokens.size(); ++t) {
      node = &node->child(tokens[t], origin);
      if (node->is(Node::Kind::kObject)) continue;
      return fail(setting_error(origin, "an earlier --set gave a value to what must be an object for this one"));
    }
    node->set(tokens.back(), parse_value(text.substr(equals + 1), origin));
  }
  PTERUN_TRY(normalize(overlay, ""));
  return add(std::move(overlay));
}

Result<Layer> ConfigReader::read() {
  if (!choice_.path.empty()) PTERUN_TRY(read_file(choice_.path));
  PTERUN_TRY(apply_profile());
  if (!choice_.overrides.empty()) PTERUN_TRY(apply_overrides());
  return std::move(layer_);
}

}  // namespace

Result<Layer> make_config_layer(const ConfigChoice& choice, std::vector<Shadowed>& shadowed) {
  return ConfigReader(choice, shadowed).read();
}

}  // namespace pterun::config
