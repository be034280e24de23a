// Option maps of a config file as option requests.
#include "base/utf8.h"
#include "config/document.h"
#include "config/normalize.h"

namespace pterun::config {
namespace {

options::RequestedValue requested_value(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kBool: return node.boolean;
    case Node::Kind::kInteger:
      if (node.huge) return options::HugeInteger{node.text};
      return node.integer;
    case Node::Kind::kString: return node.text;
    case Node::Kind::kNull:
    case Node::Kind::kFloat:
    case Node::Kind::kArray:
    case Node::Kind::kObject: break;
  }
  return options::MistypedJson{node.describe(), false};
}

Error map_error(ErrorCode code, const Node& node, const std::string& backend, const std::string& detail) {
  const std::string name = options::option_name(backend, "");
  Error error = make_error(code, "option " + name + " (" + node.origin.describe() + "): " + detail);
  return std::move(error).at("option", name).at("source", node.origin.describe());
}

Result<void> take_map(const Node& map, options::OptionPath path, int layer,
                      std::vector<options::OptionRequest>& requests) {
  if (map.is(Node::Kind::kNull)) return {};
  if (!map.is(Node::Kind::kObject)) {
    return fail(map_error(ErrorCode::kOptionType, map, "",
                          "expected an object {BACKEND: {KEY: VALUE}}, found " + map.describe()));
  }
  for (std::size_t i = 0; i < map.names.size(); ++i) {
    const Node& keys = map.items[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (map.names[j] != map.names[i]) continue;
      return fail(map_error(
          ErrorCode::kDuplicateOption, keys, map.names[i],
          "expected the backend once in this object, found it twice; first at " + map.items[j].origin.describe()));
    }
    if (!keys.is(Node::Kind::kObject)) {
      requests.push_back(
          {map.names[i], "", options::MistypedJson{keys.describe(), true}, path, keys.origin.describe(), layer});
      continue;
    }
    for (std::size_t k = 0; k < keys.names.size(); ++k) {
      requests.push_back(
          {map.names[i], keys.names[k], requested_value(keys.items[k]), path, keys.items[k].origin.describe(), layer});
    }
  }
  return {};
}

}  // namespace

Result<std::vector<options::OptionRequest>> take_options(Node& root, int layer) {
  std::vector<options::OptionRequest> requests;
  if (const Node* map = root.find("global_options")) {
    PTERUN_TRY(take_map(*map, options::OptionPath::kGlobal, layer, requests));
  }
  if (const Node* map = root.find("load_options")) {
    PTERUN_TRY(take_map(*map, options::OptionPath::kLoad, layer, requests));
  }
  root.erase("global_options");
  root.erase("load_options");
  return requests;
}

}  // namespace pterun::config
