# SPDX-License-Identifier: Apache-2.0
#
# Kernels in a CMake project, behind find_package(bang) or add_subdirectory(bang).

# bang_target_sources(target file.mlu ... [ARCH mtp_592] [OPTIONS option ...])
#
# Compiles kernels into a library or a program. They get the target's include directories,
# definitions and language standard, the build type's flags, and OPTIONS.
function(bang_target_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 bang "" "ARCH" "OPTIONS")
  if(NOT bang_ARCH)
    set(bang_ARCH mtp_592)
  endif()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
  set(includes $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  set(definitions $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  set(standard $<TARGET_PROPERTY:${target},CXX_STANDARD>)
  foreach(source ${bang_UNPARSED_ARGUMENTS})
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${path})
    string(REPLACE "../" "__/" name ${name})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/${name}.o)
    get_filename_component(folder ${object} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(
      OUTPUT ${object}
      COMMAND bang::bangcc --bang-host-compiler=${CMAKE_CXX_COMPILER} --bang-mlu-arch=${bang_ARCH}
              -c ${path} -o ${object} -MD -MF ${object}.d ${flags} -fPIC
              "$<$<BOOL:${standard}>:-std=gnu++${standard}>"
              "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
              "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" ${bang_OPTIONS}
      DEPENDS ${path} bang::bangcc
      DEPFILE ${object}.d
      COMMENT "Building BANG C object ${name}.o"
      COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(${target} PRIVATE ${object})
  endforeach()
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PRIVATE bang::bang)
endfunction()

# bang_add_library(name [STATIC|SHARED] file.mlu|file.cc ... [ARCH mtp_592] [OPTIONS option ...])
# bang_add_executable(name file.mlu|file.cc ... [ARCH mtp_592] [OPTIONS option ...])
#
# A library, or a program, of kernels and other sources.
function(bang_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 bang "STATIC;SHARED" "ARCH" "OPTIONS")
  set(kind)
  if(bang_STATIC)
    set(kind STATIC)
  elseif(bang_SHARED)
    set(kind SHARED)
  endif()
  _bang_sort_sources(${bang_UNPARSED_ARGUMENTS})
  add_library(${name} ${kind} ${others})
  bang_target_sources(${name} ${kernels} ARCH "${bang_ARCH}" OPTIONS ${bang_OPTIONS})
endfunction()

function(bang_add_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 bang "" "ARCH" "OPTIONS")
  _bang_sort_sources(${bang_UNPARSED_ARGUMENTS})
  add_executable(${name} ${others})
  bang_target_sources(${name} ${kernels} ARCH "${bang_ARCH}" OPTIONS ${bang_OPTIONS})
endfunction()

# Sets `kernels` and `others` of the calling function.
macro(_bang_sort_sources)
  set(kernels ${ARGN})
  set(others ${ARGN})
  list(FILTER kernels INCLUDE REGEX "\\.mlu$")
  list(FILTER others EXCLUDE REGEX "\\.mlu$")
endmacro()
