// The flatbuffer of a .bpte, verified; shared by the readers of the bundle and of the program inside it.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "generated/program/bundled_program_generated.h"

namespace pterun::program {

// The verified root, which points into `file`. Errors: kInvalidProgram, saying what was found instead.
Result<const fb::BundledProgram*> verify_bundle(Bytes file, const std::string& name);

// The embedded .pte.
Bytes bundled_bytes(const fb::BundledProgram& bundle);

}  // namespace pterun::program
