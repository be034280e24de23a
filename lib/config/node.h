// A JSON value as plain data that remembers where it was written. The layers of a plan (config files, --set, flags) are
// trees of these; merging them keeps the origin of every value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/origin.h"

namespace pterun::config {

class Node {
 public:
  enum class Kind : std::uint8_t { kNull, kBool, kInteger, kFloat, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  std::int64_t integer = 0;  // valid unless `huge`
  bool huge = false;         // an integer outside 64 bit; `text` has its digits
  double number = 0;         // of kInteger and kFloat
  std::string text;          // kString: the string; kInteger and kFloat: as written
  std::vector<Node> items;   // of kArray and kObject, in the order written
  // kObject: the name of each item. A parsed document may hold a name twice only inside option maps.
  std::vector<std::string> names;
  Origin origin;

  static Node make_string(std::string text, Origin origin);
  static Node make_bool(bool value, Origin origin);
  static Node make_integer(std::int64_t value, Origin origin);
  static Node make_number(double value, std::string text, Origin origin);
  static Node make_array(Origin origin);
  static Node make_object(Origin origin);

  bool is(Kind wanted) const { return kind == wanted; }
  // The member of that name (the last one), or null; null for what is no object.
  const Node* find(std::string_view name) const;
  Node* find(std::string_view name);
  // The member of that name, added as an empty object when it is missing.
  Node& child(std::string_view name, const Origin& origin_if_new);
  void set(std::string_view name, Node value);
  void erase(std::string_view name);

  // "a string ('abc')", "an array", "null": for messages.
  std::string describe() const;
  // As JSON text on one line.
  std::string to_json() const;
};

// A string in JSON quotes.
std::string json_quoted(std::string_view text);
// One name as a token of a JSON pointer: ~ and / escaped.
std::string pointer_token(std::string_view name);

}  // namespace pterun::config
