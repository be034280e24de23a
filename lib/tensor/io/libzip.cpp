// Resolving libzip's functions at run time.
#include "tensor/io/libzip.h"

#include <dlfcn.h>
#include <string>

namespace pterun::io {
namespace {

LibZip table;
bool loaded = false;

template <typename Function>
bool resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Result<void> load_libzip() {
  if (loaded) return {};
  const auto missing = [] {
    const char* reason = ::dlerror();
    return fail(make_error(ErrorCode::kInput, std::string("npz files need libzip, which cannot be loaded: ") +
                                                  (reason == nullptr ? "unknown reason" : reason))
                    .with_hint("install the package with " PTERUN_LIBZIP_SONAME));
  };
  void* library = ::dlopen(PTERUN_LIBZIP_SONAME, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return missing();
  const bool complete =
      resolve(library, "zip_close", table.zip_close) && resolve(library, "zip_discard", table.zip_discard) &&
      resolve(library, "zip_error_fini", table.zip_error_fini) &&
      resolve(library, "zip_error_init", table.zip_error_init) &&
      resolve(library, "zip_error_init_with_code", table.zip_error_init_with_code) &&
      resolve(library, "zip_error_strerror", table.zip_error_strerror) &&
      resolve(library, "zip_fclose", table.zip_fclose) && resolve(library, "zip_file_add", table.zip_file_add) &&
      resolve(library, "zip_file_set_dostime", table.zip_file_set_dostime) &&
      resolve(library, "zip_file_strerror", table.zip_file_strerror) &&
      resolve(library, "zip_fopen_index", table.zip_fopen_index) && resolve(library, "zip_fread", table.zip_fread) &&
      resolve(library, "zip_get_num_entries", table.zip_get_num_entries) &&
      resolve(library, "zip_open", table.zip_open) &&
      resolve(library, "zip_open_from_source", table.zip_open_from_source) &&
      resolve(library, "zip_set_file_compression", table.zip_set_file_compression) &&
      resolve(library, "zip_source_buffer_create", table.zip_source_buffer_create) &&
      resolve(library, "zip_source_buffer_fragment", table.zip_source_buffer_fragment) &&
      resolve(library, "zip_source_free", table.zip_source_free) &&
      resolve(library, "zip_stat_index", table.zip_stat_index) && resolve(library, "zip_strerror", table.zip_strerror);
  if (!complete) return missing();
  loaded = true;
  return {};
}

const LibZip& libzip() {
  return table;
}

}  // namespace pterun::io
