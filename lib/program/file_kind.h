// What kind of file some bytes are, for the message when they are not what was asked for.
#pragma once

#include <string>

#include "base/bytes.h"

namespace pterun::program {

// Four-byte identifiers of the flatbuffer formats, at bytes 4 to 7.
inline constexpr char kProgramIdentifier[] = "ET12";
inline constexpr char kExternalDataIdentifier[] = "FT01";
inline constexpr char kBundledProgramIdentifier[] = "BP08";

// Whether bytes 4 to 7 are the identifier.
bool has_identifier(Bytes file, const char* identifier);

// "a .ptd data file", "JSON text", "an ONNX model", "an empty file", "unknown data beginning with 'abc…'": from the
// first bytes and the size only.
std::string describe_file_kind(Bytes file);

}  // namespace pterun::program
