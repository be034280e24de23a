// The outermost structure of a .pte and a .ptd file: a flatbuffer in front, segments behind it. docs/formats.md.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/error.h"

namespace pterun::program {

struct Container {
  Bytes flatbuffer;  // from the first byte of the file
  Bytes segments;    // what segment offsets count into; empty when there are none
};

// Splits a .pte by its extended header, which is optional, after checking the identifier and that the file is as
// long as the header says. `name` stands for the file in messages.
// Errors: kInvalidProgram, saying what was found instead, or actual and expected sizes.
Result<Container> split_program(Bytes file, const std::string& name);

// The same for a .ptd, whose header is not optional. Errors: kInvalidExternalData.
Result<Container> split_external_data(Bytes file, const std::string& name);

}  // namespace pterun::program
