# Compiler flags of our own code (target pterun_flags), a compiler cache and a fast linker where they exist.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12.2)
  message(FATAL_ERROR "pterun needs g++ 12.2 or newer, or clang 19 or newer; this is g++ ${CMAKE_CXX_COMPILER_VERSION}")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
  message(FATAL_ERROR "pterun needs clang 19 or newer, or g++ 12.2 or newer; this is clang ${CMAKE_CXX_COMPILER_VERSION}")
endif()

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(PTERUN_CCACHE ccache)
  if(PTERUN_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER ${PTERUN_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${PTERUN_CCACHE})
  endif()
endif()

add_library(pterun_flags INTERFACE)
target_compile_options(pterun_flags INTERFACE -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # libstdc++ 12's own stable_sort calls what C++23 deprecates.
  target_compile_options(pterun_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
endif()
if(PTERUN_WERROR)
  target_compile_options(pterun_flags INTERFACE -Werror)
endif()
# g++ fuses a*b+c into one rounding where the target can; outputs must not depend on the machine they were built for.
target_compile_options(pterun_flags INTERFACE -ffp-contract=off)

# The standard library's headers are a good part of the time that a small file takes. pterun_precompile(<target> [FROM
# <target>]) compiles them once, or takes those of a target with the same flags. Not with ccache, which saves more and
# cannot keep such files; and not in every preset, since it hides an include that a file forgot.
function(pterun_precompile target)
  if(NOT PTERUN_PRECOMPILE OR PTERUN_CCACHE)
    return()
  endif()
  if(ARGC GREATER 1)
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE <algorithm> <chrono> <expected> <fmt/format.h> <functional> <map>
      <memory> <optional> <span> <string> <string_view> <variant> <vector>)
  endif()
endfunction()

if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # The binary does not say where it was built.
  target_compile_options(pterun_flags INTERFACE -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
endif()

find_program(PTERUN_MOLD mold)
find_program(PTERUN_LLD ld.lld)
if(PTERUN_MOLD)
  target_link_options(pterun_flags INTERFACE -fuse-ld=mold)
elseif(PTERUN_LLD)
  target_link_options(pterun_flags INTERFACE -fuse-ld=lld)
endif()

if(PTERUN_SANITIZE)
  target_compile_options(pterun_flags INTERFACE
    -fsanitize=${PTERUN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(pterun_flags INTERFACE -fsanitize=${PTERUN_SANITIZE})
endif()
if(PTERUN_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "PTERUN_FUZZ needs clang: libFuzzer is part of it")
  endif()
  target_compile_options(pterun_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(pterun_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_definitions(pterun_flags INTERFACE _GLIBCXX_ASSERTIONS)
endif()
