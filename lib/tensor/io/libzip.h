// libzip, loaded when the first npz is opened or written: linked, it and the crypto library behind it would take about
// 2 ms and 0.6 MB from every run, also from those without an npz (docs/decisions/0003-libzip-on-demand.md).
#pragma once

#include <zip.h>

#include "base/error.h"

namespace pterun::io {

// The functions of libzip that npz.cpp uses, under their own names.
struct LibZip {
  decltype(&::zip_close) zip_close;
  decltype(&::zip_discard) zip_discard;
  decltype(&::zip_error_fini) zip_error_fini;
  decltype(&::zip_error_init) zip_error_init;
  decltype(&::zip_error_init_with_code) zip_error_init_with_code;
  decltype(&::zip_error_strerror) zip_error_strerror;
  decltype(&::zip_fclose) zip_fclose;
  decltype(&::zip_file_add) zip_file_add;
  decltype(&::zip_file_set_dostime) zip_file_set_dostime;
  decltype(&::zip_file_strerror) zip_file_strerror;
  decltype(&::zip_fopen_index) zip_fopen_index;
  decltype(&::zip_fread) zip_fread;
  decltype(&::zip_get_num_entries) zip_get_num_entries;
  decltype(&::zip_open) zip_open;
  decltype(&::zip_open_from_source) zip_open_from_source;
  decltype(&::zip_set_file_compression) zip_set_file_compression;
  decltype(&::zip_source_buffer_create) zip_source_buffer_create;
  decltype(&::zip_source_buffer_fragment) zip_source_buffer_fragment;
  decltype(&::zip_source_free) zip_source_free;
  decltype(&::zip_stat_index) zip_stat_index;
  decltype(&::zip_strerror) zip_strerror;
};

// Loads the library unless it is loaded. Errors: kInput, naming the library that is missing.
Result<void> load_libzip();

// Gives it back. No function of the table may be running, no archive be open.
void unload_libzip();

// Valid after load_libzip returned Ok.
const LibZip& libzip();

}  // namespace pterun::io
