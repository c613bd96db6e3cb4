# SPDX-License-Identifier: Apache-2.0
#
# The MLU backend: every .mlu of src, once per card, as a plug-in that libdetops loads when an mlu
# device is first asked for.
set(DETOPS_MLU AUTO CACHE STRING
    "The MLU plug-in: ON (simulated cards, by bang/), OFF, AUTO (where bang/ is built anyway), or the folder of the vendor's toolkit")
set(DETOPS_MLU_IS_SIMULATED OFF)
if(DETOPS_SANITIZE)
  set(DETOPS_MLU OFF)
elseif(DETOPS_MLU STREQUAL "AUTO")
  set(DETOPS_MLU ${DETOPS_BUILD_BANG})
  set(DETOPS_MLU_IS_SIMULATED ${DETOPS_BUILD_BANG})
elseif(DETOPS_MLU MATCHES "^(ON|TRUE|YES|1)$")
  set(DETOPS_BUILD_BANG ON)
  set(DETOPS_MLU_IS_SIMULATED ON)
elseif(DETOPS_MLU AND NOT EXISTS "${DETOPS_MLU}/bin/cncc")
  message(FATAL_ERROR "DETOPS_MLU is ${DETOPS_MLU}, which has no bin/cncc; expected ON, OFF, AUTO, "
                      "or the toolkit's folder")
endif()

# detops_mlu_sources(target kernels.mlu ...)
function(detops_mlu_sources target)
  if(DETOPS_MLU_IS_SIMULATED)
    set(compiler bang::bangcc --bang-host-compiler=${CMAKE_CXX_COMPILER})
    set(includes $<TARGET_PROPERTY:bang::bang,INTERFACE_INCLUDE_DIRECTORIES>)
    target_link_libraries(${target} PRIVATE bang::bang)
  else()
    set(compiler ${DETOPS_MLU}/bin/cncc)
    set(includes ${DETOPS_MLU}/include)
    target_link_libraries(${target} PRIVATE ${DETOPS_MLU}/lib64/libcnrt.so)
    set_property(TARGET ${target} APPEND PROPERTY INSTALL_RPATH ${DETOPS_MLU}/lib64)
  endif()
  # The toolkit's cnrt.h stands in for ours.
  target_include_directories(${target} BEFORE PRIVATE ${includes})
  foreach(source ${ARGN})
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${path})
    foreach(arch 592 372)
      set(object ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/${name}.mtp_${arch}.o)
      get_filename_component(folder ${object} DIRECTORY)
      file(MAKE_DIRECTORY ${folder})
      add_custom_command(
        OUTPUT ${object}
        COMMAND ${compiler} --bang-mlu-arch=mtp_${arch} -DDETOPS_MLU_ARCH=${arch}
                -c ${path} -o ${object} -MD -MF ${object}.d -O2 -std=c++17 -fPIC
                -ffp-contract=off -fvisibility=hidden
                -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/tests
        DEPENDS ${path} $<$<BOOL:${DETOPS_MLU_IS_SIMULATED}>:bang::bangcc>
        DEPFILE ${object}.d
        COMMENT "Building BANG C object ${name} for mtp_${arch}"
        COMMAND_EXPAND_LISTS VERBATIM)
      set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
      target_sources(${target} PRIVATE ${object})
    endforeach()
  endforeach()
endfunction()
