# SPDX-License-Identifier: Apache-2.0
#
# Headers are parsed once per operator, and once for all that operators share, not by every file: a
# third of the time to compile. The kernels stay apart, for Highway compiles their files several
# times.
function(detops_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    string(REGEX MATCH "src/ops/[a-z0-9_]+/" group ${source})
    string(MAKE_C_IDENTIFIER "shared${group}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
