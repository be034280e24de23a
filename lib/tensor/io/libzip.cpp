// Resolving libzip's functions at run time.
#include "tensor/io/libzip.h"

#include <dlfcn.h>
#include <string>

namespace pterun::io {
namespace {

LibZip table;
void* library = nullptr;  // not null: `table` is complete

template <typename Function>
bool resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Result<void> load_libzip() {
  if (library != nullptr) return {};
  const auto missing = [] {
    const char* reason = ::dlerror();
    return fail(make_error(ErrorCode::kInput, std::string("npz files need libzip, which cannot be loaded: ") +
                                                  (reason == nullptr ? "unknown reason" : reason))
                    .with_hint("install the package with " PTERUN_LIBZIP_SONAME));
  };
  void* opened = ::dlopen(PTERUN_LIBZIP_SONAME, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return missing();
  const bool complete =
      resolve(opened, "zip_close", table.zip_close) && resolve(opened, "zip_discard", table.zip_discard) &&
      resolve(opened, "zip_error_fini", table.zip_error_fini) &&
      resolve(opened, "zip_error_init", table.zip_error_init) &&
      resolve(opened, "zip_error_init_with_code", table.zip_error_init_with_code) &&
      resolve(opened, "zip_error_strerror", table.zip_error_strerror) &&
      resolve(opened, "zip_fclose", table.zip_fclose) && resolve(opened, "zip_file_add", table.zip_file_add) &&
      resolve(opened, "zip_file_set_dostime", table.zip_file_set_dostime) &&
      resolve(opened, "zip_file_strerror", table.zip_file_strerror) &&
      resolve(opened, "zip_fopen_index", table.zip_fopen_index) && resolve(opened, "zip_fread", table.zip_fread) &&
      resolve(opened, "zip_get_num_entries", table.zip_get_num_entries) &&
      resolve(opened, "zip_open", table.zip_open) &&
      resolve(opened, "zip_open_from_source", table.zip_open_from_source) &&
      resolve(opened, "zip_set_file_compression", table.zip_set_file_compression) &&
      resolve(opened, "zip_source_buffer_create", table.zip_source_buffer_create) &&
      resolve(opened, "zip_source_buffer_fragment", table.zip_source_buffer_fragment) &&
      resolve(opened, "zip_source_free", table.zip_source_free) &&
      resolve(opened, "zip_stat_index", table.zip_stat_index) && resolve(opened, "zip_strerror", table.zip_strerror);
  if (!complete) {
    const auto error = missing();
    ::dlclose(opened);
    return error;
  }
  library = opened;
  return {};
}

void unload_libzip() {
  if (library != nullptr) ::dlclose(library);
  library = nullptr;
}

const LibZip& libzip() {
  return table;
}

}  // namespace pterun::io
