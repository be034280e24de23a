// Registration and look-up of backends; set_option and get_option with errors that name the option.
#include "backend/backend_registry.h"

namespace pterun::backend {

const options::OptionValue* InitContext::load_option(std::string_view key) const {
  for (const options::Option& option : load_options) {
    if (option.key == key) return &option.value;
  }
  return nullptr;
}

Result<void> BackendRegistry::add(std::unique_ptr<Backend> backend) {
  const std::string& name = backend->option_table().backend;
  if (backends_.size() == kMaxBackends) {
    return fail(ErrorCode::kInternal, "cannot register backend '" + name + "': there are 16 already");
  }
  if (name.empty() || name.size() > options::kMaxNameBytes) {
    return fail(ErrorCode::kInvalidArgument, "a backend name has 1 to 63 bytes, found '" + name + "'");
  }
  if (find(name) != nullptr) {
    return fail(ErrorCode::kInvalidArgument, "a backend named '" + name + "' is registered already");
  }
  backends_.push_back(std::move(backend));
  return {};
}

Backend* BackendRegistry::find(std::string_view name) const {
  for (const auto& backend : backends_) {
    if (backend->option_table().backend == name) return backend.get();
  }
  return nullptr;
}

std::vector<std::string> BackendRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& backend : backends_)
    names.push_back(backend->option_table().backend);
  return names;
}

namespace {

Error not_registered(std::string_view backend, const std::vector<std::string>& names) {
  std::string known;
  for (const std::string& name : names)
    known += (known.empty() ? "" : ", ") + name;
  return make_error(ErrorCode::kNotFound, "backend '" + std::string(backend) +
                                              "' is not registered; registered: " + (known.empty() ? "none" : known));
}

}  // namespace

Result<void> BackendRegistry::set_option(std::string_view backend, std::span<const options::Option> options) {
  Backend* found = find(backend);
  if (found == nullptr) return fail(not_registered(backend, names()));
  auto result = found->set_option(options);
  if (!result && options.size() == 1) {
    return fail(std::move(result).error().at("option", std::string(backend) + "." + options.front().key));
  }
  return result;
}

Result<options::OptionValue> BackendRegistry::get_option(std::string_view backend, std::string_view key) const {
  const Backend* found = find(backend);
  if (found == nullptr) return fail(not_registered(backend, names()));
  auto result = found->get_option(key);
  if (!result) return fail(std::move(result).error().at("option", std::string(backend) + "." + std::string(key)));
  return result;
}

}  // namespace pterun::backend
