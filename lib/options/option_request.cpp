// Splitting the text of a flag, and how requests are shown in messages.
#include "options/option_request.h"

#include "base/utf8.h"

namespace pterun::options {
namespace {

Error syntax_error(std::string_view text, OptionPath path, std::size_t number, const std::string& what) {
  const std::string source = std::string(option_flag(path)) + " #" + std::to_string(number);
  return make_error(ErrorCode::kOptionSyntax,
                    source + ": expected BACKEND.KEY[:TYPE]=VALUE, found " + in_quotes(text) + ", which " + what)
      .at("option", printable(text))
      .at("source", source)
      .with_hint("for example " + std::string(option_flag(path)) + " XnnpackBackend.workspace_sharing_mode=1");
}

}  // namespace

std::string_view option_flag(OptionPath path) {
  return path == OptionPath::kGlobal ? "--global-option" : "--load-option";
}

std::string option_name(std::string_view backend, std::string_view key) {
  std::string name = backend.empty() ? "(no backend)" : printable(backend);
  return key.empty() ? name : name + "." + printable(key);
}

std::string requested_text(const RequestedValue& value) {
  if (const auto* flag = std::get_if<FlagText>(&value)) return in_quotes(flag->text);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "the bool true" : "the bool false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return "the integer " + std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return "the string " + in_quotes(*text);
  if (const auto* huge = std::get_if<HugeInteger>(&value)) return "the integer " + printable(huge->digits);
  return std::get<MistypedJson>(value).found;
}

Result<OptionRequest> parse_flag(std::string_view text, OptionPath path, std::size_t number) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return fail(syntax_error(text, path, number, "has no '='"));
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot > equals) {
    return fail(syntax_error(text, path, number, "has no '.' between backend and key"));
  }

  OptionRequest request;
  request.backend = text.substr(0, dot);
  request.path = path;
  request.source = std::string(option_flag(path)) + " #" + std::to_string(number);
  request.layer = kFlagLayer;
  const std::string_view name = text.substr(dot + 1, equals - dot - 1);
  const std::size_t colon = name.find(':');
  request.key = name.substr(0, colon);
  FlagText value{std::string(text.substr(equals + 1)), {}};
  if (colon != std::string_view::npos) {
    value.stated_type = name.substr(colon + 1);
    if (value.stated_type.empty()) return fail(syntax_error(text, path, number, "has no type after ':'"));
  }
  request.value = std::move(value);
  return request;
}

Result<OptionRequest> parse_name(std::string_view text, const std::string& source) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) {
    return fail(make_error(ErrorCode::kOptionSyntax,
                           source + ": expected BACKEND.KEY, found " + in_quotes(text) + ", which has no '.'")
                    .at("option", printable(text))
                    .at("source", source)
                    .with_hint("for example XnnpackBackend.workspace_sharing_mode"));
  }
  OptionRequest request;
  request.backend = text.substr(0, dot);
  request.key = text.substr(dot + 1);
  request.source = source;
  return request;
}

}  // namespace pterun::options
