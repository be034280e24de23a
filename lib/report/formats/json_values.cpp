// Numbers and warnings as JSON.
#include "report/formats/json_values.h"

#include <cmath>

namespace pterun::report {

using nlohmann::json;

json number_json(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

json warnings_json(const std::vector<Warning>& warnings) {
  json array = json::array();
  for (const Warning& warning : warnings)
    array.push_back({{"code", warning.code}, {"message", warning.message}, {"hint", warning.hint}});
  return array;
}

}  // namespace pterun::report
