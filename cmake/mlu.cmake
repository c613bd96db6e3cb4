# SPDX-License-Identifier: Apache-2.0
#
# The MLU backend: every .mlu of src, once per card, as a plug-in that libdetops loads when an mlu
# device is first asked for. SIMULATOR: with bang/, for simulated cards. Else the folder of the
# vendor's toolkit (/usr/local/neuware), for real ones.
set(DETOPS_MLU ${DETOPS_BUILD_BANG} CACHE STRING
    "The MLU plug-in: ON (simulated cards, by bang/), OFF, or the folder of the vendor's toolkit")
if(DETOPS_SANITIZE OR (DETOPS_MLU STREQUAL "ON" AND NOT DETOPS_BUILD_BANG))
  set(DETOPS_MLU OFF)
endif()

# detops_mlu_sources(target kernels.mlu ...)
function(detops_mlu_sources target)
  if(DETOPS_MLU STREQUAL "ON")
    set(compiler bang::bangcc --bang-host-compiler=${CMAKE_CXX_COMPILER})
    set(includes $<TARGET_PROPERTY:bang::bang,INTERFACE_INCLUDE_DIRECTORIES>)
    target_link_libraries(${target} PRIVATE bang::bang)
  else()
    set(compiler ${DETOPS_MLU}/bin/cncc)
    set(includes ${DETOPS_MLU}/include)
    target_link_libraries(${target} PRIVATE ${DETOPS_MLU}/lib64/libcnrt.so)
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
        DEPENDS ${path} $<$<STREQUAL:${DETOPS_MLU},ON>:bang::bangcc>
        DEPFILE ${object}.d
        COMMENT "Building BANG C object ${name} for mtp_${arch}"
        COMMAND_EXPAND_LISTS VERBATIM)
      set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
      target_sources(${target} PRIVATE ${object})
    endforeach()
  endforeach()
endfunction()
