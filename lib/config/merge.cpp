// Merging of layers.
#include "config/layers.h"

namespace pterun::config {
namespace {

// Element bounds (atol, rtol) and metric bounds exclude each other, so the upper layer's kind drops the lower one's.
void drop_other_bounds(Node& base, const Node& over) {
  if (over.find("bounds") != nullptr) {
    base.erase("atol");
    base.erase("rtol");
  } else if (over.find("atol") != nullptr || over.find("rtol") != nullptr) {
    base.erase("bounds");
  }
}

}  // namespace

void merge(Node& base, const Node& over, const std::string& pointer, std::vector<Shadowed>* shadowed) {
  if (!base.is(Node::Kind::kObject) || !over.is(Node::Kind::kObject)) {
    if (shadowed != nullptr && !base.is(Node::Kind::kNull)) {
      shadowed->push_back({pointer, base.to_json(), base.origin, over.origin});
    }
    base = over;
    return;
  }
  if (pointer.ends_with("/tolerance") || pointer.find("/tolerance/outputs/") != std::string::npos) {
    drop_other_bounds(base, over);
  }
  for (std::size_t i = 0; i < over.names.size(); ++i) {
    const std::string& name = over.names[i];
    if (over.items[i].is(Node::Kind::kNull)) {
      base.erase(name);
    } else if (Node* child = base.find(name)) {
      merge(*child, over.items[i], pointer + "/" + pointer_token(name), shadowed);
    } else {
      base.set(name, over.items[i]);
    }
  }
}

}  // namespace pterun::config
