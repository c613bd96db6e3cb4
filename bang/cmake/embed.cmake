# SPDX-License-Identifier: Apache-2.0
#
# Files that become part of the library.

# bang_embed(out.cc symbol file...) writes a source that defines `const char* const symbol[]`, the
# text of each file in turn, ended by a null pointer. Written anew when a file changes.
function(bang_embed output symbol)
  set(text "// Made by cmake/embed.cmake.\nnamespace bang {\nextern const char* const ${symbol}[];\n")
  string(APPEND text "const char* const ${symbol}[] = {\n")
  foreach(file ${ARGN})
    file(READ ${file} content)
    # A literal of this length is within what every compiler takes; neighbours are joined.
    string(LENGTH "${content}" length)
    set(position 0)
    while(position LESS length)
      string(SUBSTRING "${content}" ${position} 8000 piece)
      string(APPEND text "R\"embedded(${piece})embedded\"\n")
      math(EXPR position "${position} + 8000")
    endwhile()
    string(APPEND text ",\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  string(APPEND text "nullptr};\n}  // namespace bang\n")
  file(CONFIGURE OUTPUT ${output} CONTENT "\@text\@" @ONLY)
endfunction()
