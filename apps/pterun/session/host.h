// What the report says of the machine and the build, and the process's memory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pterun::app {

// "build_type", "compiler", "pterun", "xnnpack": sorted, as a report that is read back has them.
std::vector<std::pair<std::string, std::string>> version_facts();
// "cpu", "cpu_features", "logical_processors", "machine", "memory_bytes", "physical_cores_available", "system".
std::vector<std::pair<std::string, std::string>> host_facts();

// Resident set now and at its highest (VmRSS, VmHWM of /proc/self/status), bytes; 0 where the system has no such file.
std::int64_t resident_bytes();
std::int64_t peak_resident_bytes();

// Takes the pages of program code out of the resident set: what ran until now is hardly what runs next. Code that does
// run again is mapped again from the page cache.
void release_code_pages();

}  // namespace pterun::app
