// Values that the JSON of this folder writes alike.
#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/log.h"

namespace pterun::report {

// JSON has no NaN and no infinities: they are the strings "NaN", "Infinity" and "-Infinity".
nlohmann::json number_json(double value);

// null without a value.
template <typename T>
nlohmann::json optional_json(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json warnings_json(const std::vector<Warning>& warnings);

}  // namespace pterun::report
