// Access to nodes, and their text.
#include "config/node.h"

#include <cstddef>

#include "base/utf8.h"

namespace pterun::config {

std::string Origin::describe() const {
  switch (kind) {
    case Kind::kDefault: return "default";
    case Kind::kEnvironment: return "environment " + source;
    case Kind::kFlag: return source;
    case Kind::kConfig:
    case Kind::kOverride: break;
  }
  std::string text = source + ":" + (pointer.empty() ? "/" : pointer);
  if (line != 0) text += " (line " + std::to_string(line) + ")";
  return text;
}

Node Node::make_string(std::string text, Origin origin) {
  Node node;
  node.kind = Kind::kString;
  node.text = std::move(text);
  node.origin = std::move(origin);
  return node;
}

Node Node::make_bool(bool value, Origin origin) {
  Node node;
  node.kind = Kind::kBool;
  node.boolean = value;
  node.origin = std::move(origin);
  return node;
}

Node Node::make_integer(std::int64_t value, Origin origin) {
  Node node;
  node.kind = Kind::kInteger;
  node.integer = value;
  node.number = static_cast<double>(value);
  node.text = std::to_string(value);
  node.origin = std::move(origin);
  return node;
}

Node Node::make_number(double value, std::string text, Origin origin) {
  Node node;
  node.kind = Kind::kFloat;
  node.number = value;
  node.text = std::move(text);
  node.origin = std::move(origin);
  return node;
}

Node Node::make_array(Origin origin) {
  Node node;
  node.kind = Kind::kArray;
  node.origin = std::move(origin);
  return node;
}

Node Node::make_object(Origin origin) {
  Node node;
  node.kind = Kind::kObject;
  node.origin = std::move(origin);
  return node;
}

Node* Node::find(std::string_view name) {
  for (std::size_t i = names.size(); i-- > 0;) {
    if (names[i] == name) return &items[i];
  }
  return nullptr;
}

const Node* Node::find(std::string_view name) const {
  return const_cast<Node*>(this)->find(name);
}

Node& Node::child(std::string_view name, const Origin& origin_if_new) {
  if (Node* node = find(name)) return *node;
  names.emplace_back(name);
  items.push_back(make_object(origin_if_new));
  return items.back();
}

void Node::set(std::string_view name, Node value) {
  if (Node* node = find(name)) {
    *node = std::move(value);
  } else {
    names.emplace_back(name);
    items.push_back(std::move(value));
  }
}

void Node::erase(std::string_view name) {
  for (std::size_t i = names.size(); i-- > 0;) {
    if (names[i] != name) continue;
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(i));
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

std::string Node::describe() const {
  switch (kind) {
    case Kind::kNull: return "null";
    case Kind::kBool: return boolean ? "the bool true" : "the bool false";
    case Kind::kInteger: return "the integer " + text;
    case Kind::kFloat: return "the float " + text;
    case Kind::kString: return "the string " + in_quotes(text);
    case Kind::kArray: return "an array";
    case Kind::kObject: return "an object";
  }
  return {};
}

std::string Node::to_json() const {
  switch (kind) {
    case Kind::kNull: return "null";
    case Kind::kBool: return boolean ? "true" : "false";
    case Kind::kInteger:
    case Kind::kFloat: return text;
    case Kind::kString: return json_quoted(text);
    case Kind::kArray:
    case Kind::kObject: break;
  }
  const bool array = kind == Kind::kArray;
  std::string json(1, array ? '[' : '{');
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i != 0) json += ", ";
    if (!array) json += json_quoted(names[i]) + ": ";
    json += items[i].to_json();
  }
  return json + (array ? ']' : '}');
}

std::string json_quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += {'\\', c};
    } else if (byte < 0x20) {
      json += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 0xF]};
    } else {
      json += c;
    }
  }
  return json + "\"";
}

std::string pointer_token(std::string_view name) {
  std::string token;
  for (const char c : name) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return token;
}

}  // namespace pterun::config
