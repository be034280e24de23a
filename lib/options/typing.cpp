// Limits, typing and ranges of single option requests.
#include "options/typing.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/suggest.h"
#include "base/utf8.h"

namespace pterun::options {
namespace {

bool is_decimal(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The decimal as a 32-bit int, or nullopt when it does not fit.
std::optional<std::int32_t> to_int32(std::string_view decimal) {
  if (decimal.starts_with('+')) decimal.remove_prefix(1);
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(decimal.data(), decimal.data() + decimal.size(), number);
  if (error != std::errc() || end != decimal.data() + decimal.size()) return std::nullopt;
  return number;
}

Result<void> check_name(const OptionRequest& request, const char* what, const std::string& name) {
  const auto wrong = [&](ErrorCode code, const std::string& detail) {
    return fail(request_error(code, request, std::string("the ") + what + " " + detail));
  };
  if (name.empty()) return wrong(ErrorCode::kOptionValue, "is empty, expected 1 to 63 bytes");
  if (name.size() > kMaxNameBytes) {
    return wrong(ErrorCode::kOptionValue,
                 in_quotes(name) + " has " + std::to_string(name.size()) + " bytes, expected 1 to 63");
  }
  if (name.find('\0') != std::string::npos) {
    return wrong(ErrorCode::kOptionValue, in_quotes(name) + " contains a NUL byte, expected none");
  }
  if (!is_utf8(name)) return wrong(ErrorCode::kOptionType, in_quotes(name) + " is not UTF-8, expected text in UTF-8");
  return {};
}

Result<void> check_string_limits(const OptionRequest& request, const std::string& text) {
  const auto wrong = [&](const std::string& found) {
    return fail(request_error(ErrorCode::kOptionValue, request, "expected a string of 1 to 255 bytes, found " + found));
  };
  if (text.empty()) return wrong("an empty one");
  if (text.size() > kMaxStringValueBytes) {
    return wrong("one of " + std::to_string(text.size()) + " bytes, and nothing is truncated");
  }
  if (text.find('\0') != std::string::npos) return wrong("one with a NUL byte: " + in_quotes(text));
  return {};
}

Error int_out_of_limits(const OptionRequest& request, std::string_view digits) {
  return request_error(ErrorCode::kOptionValue, request,
                       "expected an int from -2147483648 to 2147483647 (32 bit), found " + printable(digits));
}

Error wrong_type(const OptionRequest& request, const std::string& expected) {
  return request_error(ErrorCode::kOptionType, request,
                       "expected " + expected + ", found " + requested_text(request.value));
}

std::string_view stated_name(OptionType type) {
  return type == OptionType::kString ? "str" : option_type_name(type);
}

Result<void> check_stated_type(const OptionRequest& request, const FlagText& flag, const OptionSpec* spec) {
  const std::string& stated = flag.stated_type;
  if (stated.empty()) return {};
  if (stated != "bool" && stated != "int" && stated != "str") {
    return fail(request_error(ErrorCode::kOptionType, request,
                              "expected the type bool, int or str after ':', found " + in_quotes(stated)));
  }
  if (spec != nullptr && stated != stated_name(spec->type)) {
    return fail(request_error(ErrorCode::kOptionType, request,
                              "expected " + describe_domain(*spec) + ", found the stated type '" + stated + "'")
                    .with_hint("leave ':" + stated + "' out: the backend's table knows the type"));
  }
  return {};
}

Result<OptionValue> type_int_text(const OptionRequest& request, const std::string& text, const OptionSpec* spec) {
  if (is_decimal(text)) {
    const auto number = to_int32(text);
    if (!number) return fail(int_out_of_limits(request, text));
    return OptionValue(*number);
  }
  std::vector<std::string_view> names;
  if (spec != nullptr) {
    for (const auto& [name, number] : spec->names) {
      if (name == text) return OptionValue(number);
      names.push_back(name);
    }
  }
  const std::string expected = spec != nullptr ? describe_domain(*spec) : "an int";
  return fail(wrong_type(request, expected).with_hint(did_you_mean(text, names)));
}

Result<OptionValue> type_flag(const OptionRequest& request, const FlagText& flag, const OptionSpec* spec) {
  PTERUN_TRY(check_stated_type(request, flag, spec));
  const OptionType type = spec != nullptr ? spec->type : infer_type(flag.text, flag.stated_type);
  switch (type) {
    case OptionType::kBool:
      if (flag.text == "true" || flag.text == "false") return OptionValue(flag.text == "true");
      return fail(wrong_type(request, "a bool").with_hint("a bool is written true or false"));
    case OptionType::kInt: return type_int_text(request, flag.text, spec);
    case OptionType::kString: break;
  }
  if (!is_utf8(flag.text)) return fail(wrong_type(request, "a string in UTF-8"));
  return OptionValue(flag.text);
}

// JSON carries its own types, which must be the table's.
Result<OptionValue> type_json(const OptionRequest& request, const OptionSpec* spec) {
  const auto expected = [&] {
    return spec != nullptr ? describe_domain(*spec) : std::string("a bool, an integer or a string");
  };
  std::optional<OptionValue> value;
  if (const auto* truth = std::get_if<bool>(&request.value)) value = OptionValue(*truth);
  if (const auto* number = std::get_if<std::int64_t>(&request.value)) {
    value = OptionValue(static_cast<std::int32_t>(*number));
  }
  if (const auto* text = std::get_if<std::string>(&request.value)) {
    if (!is_utf8(*text)) return fail(wrong_type(request, "a string in UTF-8"));
    value = OptionValue(*text);
  }
  if (!value) return fail(wrong_type(request, expected()));
  if (spec == nullptr || value->type() == spec->type) return *std::move(value);

  Error error = wrong_type(request, expected());
  if (spec->type == OptionType::kBool) error.hint = "in JSON a bool is true or false, without quotes";
  if (const std::string* text = value->as_string()) {
    for (const auto& [name, number] : spec->names) {
      if (name == *text) error.hint = "names are for flags only; in JSON write " + std::to_string(number);
    }
  }
  return fail(std::move(error));
}

}  // namespace

Error option_error(ErrorCode code, const std::string& name, const std::string& source, const std::string& detail) {
  return make_error(code, "option " + name + " (" + source + "): " + detail).at("option", name).at("source", source);
}

Error request_error(ErrorCode code, const OptionRequest& request, const std::string& detail) {
  return option_error(code, option_name(request.backend, request.key), request.source, detail);
}

std::string describe_domain(const OptionSpec& spec) {
  if (spec.type == OptionType::kBool) return "a bool";
  if (spec.type == OptionType::kString) return "a string";
  std::string text = "an int";
  if (spec.min != INT32_MIN || spec.max != INT32_MAX) {
    text += " from " + std::to_string(spec.min) + " to " + std::to_string(spec.max);
  }
  std::string names;
  for (const auto& [name, number] : spec.names) {
    names += (names.empty() ? "" : ", ") + std::to_string(number) + " " + name;
  }
  return names.empty() ? text : text + " (" + names + ")";
}

OptionType infer_type(std::string_view text, std::string_view stated) {
  if (stated == "bool") return OptionType::kBool;
  if (stated == "int") return OptionType::kInt;
  if (stated == "str") return OptionType::kString;
  if (text == "true" || text == "false") return OptionType::kBool;
  return is_decimal(text) ? OptionType::kInt : OptionType::kString;
}

Result<void> check_names(const OptionRequest& request) {
  PTERUN_TRY(check_name(request, "backend name", request.backend));
  const auto* mistyped = std::get_if<MistypedJson>(&request.value);
  if (mistyped != nullptr && mistyped->in_place_of_keys) return {};
  return check_name(request, "key", request.key);
}

Result<void> check_limits(const OptionRequest& request, const OptionSpec* spec) {
  PTERUN_TRY(check_names(request));
  if (const auto* number = std::get_if<std::int64_t>(&request.value)) {
    if (*number < INT32_MIN || *number > INT32_MAX) {
      return fail(int_out_of_limits(request, std::to_string(*number)));
    }
  }
  if (const auto* huge = std::get_if<HugeInteger>(&request.value))
    return fail(int_out_of_limits(request, huge->digits));
  if (const auto* text = std::get_if<std::string>(&request.value)) return check_string_limits(request, *text);
  if (const auto* flag = std::get_if<FlagText>(&request.value)) {
    const OptionType type = spec != nullptr ? spec->type : infer_type(flag->text, flag->stated_type);
    if (type == OptionType::kInt && is_decimal(flag->text)) {
      if (!to_int32(flag->text)) return fail(int_out_of_limits(request, flag->text));
      return {};
    }
    // Over 255 bytes it is too long for any type, whatever the key is.
    if (type == OptionType::kString || flag->text.size() > kMaxStringValueBytes) {
      return check_string_limits(request, flag->text);
    }
  }
  return {};
}

Result<OptionValue> type_value(const OptionRequest& request, const OptionSpec* spec) {
  if (const auto* flag = std::get_if<FlagText>(&request.value)) return type_flag(request, *flag, spec);
  return type_json(request, spec);
}

Result<void> check_range(const OptionRequest& request, const OptionSpec& spec, const OptionValue& value) {
  const std::int32_t* number = value.as_int();
  if (number == nullptr || (*number >= spec.min && *number <= spec.max)) return {};
  return fail(request_error(ErrorCode::kOptionValue, request,
                            "expected " + describe_domain(spec) + ", found " + std::to_string(*number)));
}

}  // namespace pterun::options
