# Where the dependencies that we build ourselves are kept between builds of pterun.
# The folder's name holds a hash of this recipe and of the compilers, so a change of either makes a new folder.
# Included by CMake, and run by scripts/setup: cmake -P cmake/deps/key.cmake prints the folder.

# The C and C++ compilers of the dependencies. They are the machine's default ones whatever compiles pterun,
# so that the presets share one build: `cc` and `c++`, or what PTERUN_DEPS_CC and PTERUN_DEPS_CXX say.
function(pterun_deps_compilers out_cc out_cxx)
  set(cc cc)
  set(cxx c++)
  if(DEFINED ENV{PTERUN_DEPS_CC})
    set(cc "$ENV{PTERUN_DEPS_CC}")
  endif()
  if(DEFINED ENV{PTERUN_DEPS_CXX})
    set(cxx "$ENV{PTERUN_DEPS_CXX}")
  endif()
  set(${out_cc} "${cc}" PARENT_SCOPE)
  set(${out_cxx} "${cxx}" PARENT_SCOPE)
endfunction()

function(pterun_deps_prefix out)
  set(recipe "")
  foreach(file IN ITEMS CMakeLists.txt key.cmake kernel_cc sources.cmake)
    file(SHA256 "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${file}" hash)
    string(APPEND recipe "${hash}\n")
  endforeach()
  pterun_deps_compilers(cc cxx)
  foreach(compiler IN ITEMS ${cc} ${cxx} clang-19)
    execute_process(COMMAND ${compiler} -dumpversion OUTPUT_VARIABLE version ERROR_QUIET RESULT_VARIABLE failed)
    execute_process(COMMAND ${compiler} -dumpmachine OUTPUT_VARIABLE machine ERROR_QUIET RESULT_VARIABLE failed)
    string(APPEND recipe "${version}${machine}")
  endforeach()
  string(SHA256 key "${recipe}")
  string(SUBSTRING "${key}" 0 12 key)

  if(DEFINED ENV{PTERUN_CACHE})
    set(cache "$ENV{PTERUN_CACHE}")
  elseif(DEFINED ENV{XDG_CACHE_HOME})
    set(cache "$ENV{XDG_CACHE_HOME}/pterun")
  else()
    set(cache "$ENV{HOME}/.cache/pterun")
  endif()
  set(${out} "${cache}/deps-${key}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  pterun_deps_prefix(prefix)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${prefix}")
endif()
