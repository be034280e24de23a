// A place in a JSON document that was read, which knows its JSON pointer: what does not fit there is an exception that
// names it. Used only inside the readers of this folder, which turn it into an Error (see read_document).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace pterun::report {

// What JsonView throws.
struct ReadFailure {
  std::string pointer;
  std::string expected;
  std::string found;
};

class JsonView {
 public:
  // Borrows the document.
  explicit JsonView(const nlohmann::json& value, std::string pointer = "") : value_(&value), pointer_(pointer) {}

  const nlohmann::json& value() const { return *value_; }
  const std::string& pointer() const { return pointer_; }

  // A member of this object; `find`: none when it is absent or null. Throw when this is no object.
  JsonView at(std::string_view key) const;
  std::optional<JsonView> find(std::string_view key) const;
  std::vector<JsonView> items() const;                             // of an array
  std::vector<std::pair<std::string, JsonView>> members() const;   // of an object, sorted by name
  std::vector<JsonView> items_of(std::string_view key) const;      // of the array `key`; none when it is absent
  [[noreturn]] void fail_with(const std::string& expected) const;  // throws, describing what is here

  void get(std::string& target) const;
  void get(bool& target) const;
  void get(int& target) const;
  void get(std::int64_t& target) const;
  void get(std::uint64_t& target) const;
  void get(double& target) const;  // "NaN", "Infinity" and "-Infinity" are numbers here
  template <typename T>
  void get(std::optional<T>& target) const {
    get(target.emplace());
  }
  template <typename T>
  void get(std::vector<T>& target) const {
    target.clear();
    for (const JsonView& item : items())
      item.get(target.emplace_back());
  }
  template <typename T>
  void get(std::map<std::string, T>& target) const {
    target.clear();
    for (const auto& [name, value] : members())
      value.get(target[name]);
  }

  // Reads member `key` into `target`; leaves it alone when the member is absent or null.
  template <typename T>
  void read(std::string_view key, T& target) const {
    if (const auto member = find(key)) member->get(target);
  }

 private:
  const nlohmann::json* value_;
  std::string pointer_;
};

}  // namespace pterun::report
