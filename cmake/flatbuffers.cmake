# pterun_flatbuffers(<room> <target>): generates code from lib/<room>/schema/*.fbs when <target> is built.
# lib/program/schema/program.fbs is included as "generated/program/program_generated.h".
find_program(PTERUN_FLATC flatc)
if(NOT PTERUN_FLATC)
  message(FATAL_ERROR "flatc was not found. Run scripts/setup, or install flatbuffers-compiler (docs/building.md lists other systems).")
endif()

function(pterun_flatbuffers room target)
  file(GLOB schemas CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/lib/${room}/schema/*.fbs)
  set(folder ${CMAKE_BINARY_DIR}/include/generated/${room})
  set(headers "")
  foreach(schema IN LISTS schemas)
    cmake_path(GET schema STEM name)
    set(header ${folder}/${name}_generated.h)
    add_custom_command(
      OUTPUT ${header}
      COMMAND ${PTERUN_FLATC} --cpp --scoped-enums -I ${CMAKE_SOURCE_DIR}/lib/${room}/schema -o ${folder} ${schema}
      DEPENDS ${schemas}
      COMMENT "flatc ${room}/${name}.fbs"
      VERBATIM)
    list(APPEND headers ${header})
  endforeach()
  if(headers)
    add_custom_target(${target}_schema DEPENDS ${headers})
    add_dependencies(${target} ${target}_schema)
  endif()
endfunction()
