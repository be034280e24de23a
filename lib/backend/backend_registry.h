// The process's backends by name, and the process-wide option path. Made in main, passed down; not thread safe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace pterun::backend {

class BackendRegistry {
 public:
  static constexpr std::size_t kMaxBackends = 16;

  // Takes ownership. Errors: kInternal (a 17th), kInvalidArgument (name taken, empty or longer than 63 bytes).
  Result<void> add(std::unique_ptr<Backend> backend);

  // The backend, or null when none has that name.
  Backend* find(std::string_view name) const;
  std::vector<std::string> names() const;  // in the order of registration

  // Errors: kNotFound for a backend that is not registered, naming those that are; else the backend's own error
  // with BACKEND.KEY in front.
  Result<void> set_option(std::string_view backend, std::span<const options::Option> options);
  Result<options::OptionValue> get_option(std::string_view backend, std::string_view key) const;

 private:
  std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace pterun::backend
