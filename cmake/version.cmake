# Writes generated/version.h in the build folder: what `pterun --version` and every report say about the build.
configure_file(${CMAKE_SOURCE_DIR}/cmake/version.h.in ${CMAKE_BINARY_DIR}/include/generated/version.h @ONLY)
