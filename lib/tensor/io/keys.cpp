// Positions from keys.
#include "tensor/io/keys.h"

#include <map>

#include "base/utf8.h"
#include "tensor/io/named_tensor.h"

namespace pterun::io {

Result<std::vector<std::size_t>> positions_of_keys(std::span<const std::string> keys, const std::string& file) {
  constexpr std::size_t kMaxDigits = 6;
  std::vector<std::size_t> positions;
  std::map<std::size_t, std::string_view> taken;
  for (const std::string& key : keys) {
    const std::size_t before = key.find_last_not_of("0123456789");
    const std::string_view digits = std::string_view(key).substr(before == std::string::npos ? 0 : before + 1);
    if (digits.empty() || digits.size() > kMaxDigits) {
      return fail(input_error(file, key, "a key must end in a number, the position (0, arr_1, input_2)")
                      .with_hint("give one tensor with FILE:KEY, or rename the keys"));
    }
    std::size_t position = 0;
    for (const char digit : digits)
      position = position * 10 + static_cast<std::size_t>(digit - '0');
    const auto [twin, is_new] = taken.emplace(position, key);
    if (!is_new) {
      return fail(input_error(
          file, key, "it means position " + std::to_string(position) + ", as " + in_quotes(twin->second) + " does"));
    }
    positions.push_back(position);
  }
  return positions;
}

}  // namespace pterun::io
