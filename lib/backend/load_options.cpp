// Limits of the load option map.
#include "backend/load_options.h"

namespace pterun::backend {
namespace {

bool name_ok(const std::string& name) {
  return !name.empty() && name.size() <= options::kMaxNameBytes && name.find('\0') == std::string::npos;
}

Error refused(ErrorCode code, const std::string& backend, const std::string& key, const std::string& why) {
  return make_error(code, "load option " + backend + "." + key + ": " + why).at("option", backend + "." + key);
}

}  // namespace

Result<void> LoadOptions::add(const std::string& backend, const std::string& key, options::OptionValue value) {
  if (!name_ok(backend))
    return fail(refused(ErrorCode::kOptionValue, backend, key, "a backend name has 1 to 63 bytes"));
  if (!name_ok(key)) return fail(refused(ErrorCode::kOptionValue, backend, key, "a key has 1 to 63 bytes"));
  if (const std::string* text = value.as_string();
      text != nullptr && (text->size() > options::kMaxStringValueBytes || text->find('\0') != std::string::npos)) {
    return fail(refused(ErrorCode::kOptionValue, backend, key, "a string value has at most 255 bytes and no NUL"));
  }
  const auto entry = options_.find(backend);
  if (entry == options_.end() && options_.size() == options::kMaxLoadBackends) {
    return fail(refused(ErrorCode::kOptionValue, backend, key, "load options may name at most 8 backends"));
  }
  if (entry != options_.end()) {
    for (const options::Option& option : entry->second) {
      if (option.key == key) return fail(refused(ErrorCode::kDuplicateOption, backend, key, "it is given twice"));
    }
  }
  options_[backend].push_back({key, std::move(value)});
  return {};
}

std::span<const options::Option> LoadOptions::for_backend(std::string_view backend) const {
  const auto entry = options_.find(backend);
  if (entry == options_.end()) return {};
  return entry->second;
}

}  // namespace pterun::backend
