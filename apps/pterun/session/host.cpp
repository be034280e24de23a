// Facts about the machine, from the C library and /proc.
#include "pterun/session/host.h"

#include <fstream>
#include <link.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/thread_pool.h"
#include "generated/version.h"
#include "xnnpack/library.h"

namespace pterun::app {
namespace {

// The text behind "KEY" and a colon in a file of such lines; "" when there is none.
std::string field(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    const std::size_t begin = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::int64_t kibibytes_field(const char* path, std::string_view key) {
  const std::string text = field(path, key);
  return text.empty() ? 0 : std::strtoll(text.c_str(), nullptr, 10) * 1024;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> version_facts() {
  return {{"build_type", kBuildType}, {"compiler", kCompiler}, {"pterun", kVersion}, {"xnnpack", kXnnpackVersion}};
}

std::vector<std::pair<std::string, std::string>> host_facts() {
  utsname names{};
  ::uname(&names);
  std::string features;
  for (const auto& feature : xnnpack::cpu_features())
    features += (features.empty() ? "" : " ") + std::string(feature);
  return {{"cpu", field("/proc/cpuinfo", "model name")},
          {"cpu_features", features},
          {"logical_processors", std::to_string(::sysconf(_SC_NPROCESSORS_ONLN))},
          {"machine", names.machine},
          {"memory_bytes", std::to_string(kibibytes_field("/proc/meminfo", "MemTotal"))},
          {"physical_cores_available", std::to_string(ThreadPool::default_threads())},
          {"system", std::string(names.sysname) + " " + names.release}};
}

std::int64_t resident_bytes() {
  return kibibytes_field("/proc/self/status", "VmRSS");
}
std::int64_t peak_resident_bytes() {
  return kibibytes_field("/proc/self/status", "VmHWM");
}

void release_code_pages() {
  const auto release = [](dl_phdr_info* object, std::size_t, void*) {
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const auto& segment = object->dlpi_phdr[i];
      // Segments that can be written hold relocated pages, which would be lost.
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0 || (segment.p_flags & PF_X) == 0) continue;
      const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
      const std::uintptr_t begin = (object->dlpi_addr + segment.p_vaddr) / page * page;
      const std::uintptr_t end = object->dlpi_addr + segment.p_vaddr + segment.p_memsz;
      (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
    return 0;
  };
  (void)::dl_iterate_phdr(release, nullptr);
}

}  // namespace pterun::app
