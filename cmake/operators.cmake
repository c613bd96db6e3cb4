# SPDX-License-Identifier: Apache-2.0
#
# One folder of src/ops is one operator: the folders are the list, and nothing else names them.
# From it come headers that say to C++ what the folders are (poly_nms holds the operator PolyNms):
#   ops/list.h           every operator of the library
#   ops/list_<backend>.h those that have src/ops/<operator>/<backend>.*
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
  set(includes "")
  set(types "")
  foreach(path ${found})
    get_filename_component(folder ${path} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    detops_type_name(${folder} type)
    string(APPEND includes "#include \"ops/${folder}/plan.h\"\n")
    list(APPEND types ${type})
  endforeach()
  list(JOIN types ", " types)
  file(CONFIGURE OUTPUT ${DETOPS_GENERATED}/ops/${header} CONTENT
"// Written by cmake/operators.cmake.
#pragma once

${includes}#include \"runtime/plugin.h\"

namespace detops::ops {
using ${list} = runtime::OperatorList<${types}>;
}
")
endfunction()

detops_list_operators(list.h AllOperators plan.h)
