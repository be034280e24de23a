// How far an option provably got.
#pragma once

#include <cstdint>
#include <string_view>

namespace pterun::report {

// The ladder of evidence; the number is the rank.
enum class Evidence : std::uint8_t { kParsed = 1, kAccepted, kStored, kDelivered, kEffective };
std::string_view evidence_name(Evidence evidence);

}  // namespace pterun::report
