# SPDX-License-Identifier: Apache-2.0
#
# One folder of src/ops is one operator: the folders are the list, and nothing else names them.
# From it come headers that say to C++ what the folders are (poly_nms holds the operator PolyNms):
#   ops/names.h           every operator of the library, by name
#   ops/list.h            the same with their plans
#   ops/list_<backend>.h  those that have src/ops/<operator>/<backend>.*
set(DETOPS_GENERATED ${PROJECT_BINARY_DIR}/generated)

function(detops_type_name folder result)
  string(REPLACE "_" ";" words ${folder})
  set(name "")
  foreach(word ${words})
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND name ${first}${rest})
  endforeach()
  set(${result} ${name} PARENT_SCOPE)
endfunction()

# detops_list_operators(list.h AllOperators plan.h): of the folders that have that file.
function(detops_list_operators header list file)
  file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*/${file})
  set(includes "#include \"core/operator_list.h\"\n")
  set(names "")
  set(types "")
  foreach(path ${found})
    get_filename_component(folder ${path} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    detops_type_name(${folder} type)
    string(APPEND includes "#include \"ops/${folder}/plan.h\"\n")
    string(APPEND names "struct ${type};\n")
    list(APPEND types ${type})
  endforeach()
  list(JOIN types ", " types)
  set(begin "// Written by cmake/operators.cmake.\n#pragma once\n\n")
  set(end "using ${list} = core::OperatorList<${types}>;\n}\n")
  if(header STREQUAL names.h)
    set(includes "#include \"core/operator_list.h\"\n")
  endif()
  file(CONFIGURE OUTPUT ${DETOPS_GENERATED}/ops/${header}
    CONTENT "${begin}${includes}\nnamespace detops::ops {\n${names}${end}")
endfunction()

detops_list_operators(names.h AllOperators plan.h)
detops_list_operators(list.h AllOperators plan.h)
