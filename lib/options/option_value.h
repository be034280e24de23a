// The value of a backend option: bool, 32-bit int or string, ExecuTorch's three types and no other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace pterun::options {

// ExecuTorch's limits (runtime/backend/options.h, backend_options_map.h): 64- and 256-byte buffers with a NUL.
inline constexpr std::size_t kMaxNameBytes = 63;  // backend name and key, at least 1
inline constexpr std::size_t kMaxStringValueBytes = 255;
inline constexpr std::size_t kMaxLoadBackends = 8;

enum class OptionType : std::uint8_t { kBool, kInt, kString };

// "bool", "int", "string".
std::string_view option_type_name(OptionType type);

class OptionValue {
 public:
  explicit OptionValue(bool value) : value_(value) {}
  explicit OptionValue(std::int32_t value) : value_(value) {}
  explicit OptionValue(std::string value) : value_(std::move(value)) {}
  explicit OptionValue(const char*) = delete;  // would become a bool

  OptionType type() const { return static_cast<OptionType>(value_.index()); }
  // The alternative, or null when the value has another type.
  const bool* as_bool() const { return std::get_if<bool>(&value_); }
  const std::int32_t* as_int() const { return std::get_if<std::int32_t>(&value_); }
  const std::string* as_string() const { return std::get_if<std::string>(&value_); }
  // "true", "2", "\"text\"" (strings in JSON quotes).
  std::string to_string() const;

  friend bool operator==(const OptionValue&, const OptionValue&) = default;

 private:
  std::variant<bool, std::int32_t, std::string> value_;  // in the order of OptionType
};

// One key with its value, as a backend sees it.
struct Option {
  std::string key;
  OptionValue value;
  friend bool operator==(const Option&, const Option&) = default;
};

}  // namespace pterun::options
