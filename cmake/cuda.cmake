# SPDX-License-Identifier: Apache-2.0
#
# The CUDA backend: every .cu of src, as a plug-in that libdetops loads when a cuda device is first
# asked for. Compiling it takes minutes, so it is built where that was asked for.
set(DETOPS_CUDA OFF CACHE STRING "The CUDA plug-in: ON, OFF, or AUTO (where nvcc is found)")
set_property(CACHE DETOPS_CUDA PROPERTY STRINGS OFF ON AUTO)
set(DETOPS_CUDA_ARCHITECTURES native CACHE STRING
    "What the plug-in carries code for: native (the GPUs of this machine), ALL, or CMake's own list")
set(detops_cuda_all 75-real 80-real 86-real 89-real 90-real 100-real 120-real 120-virtual)

if(DETOPS_CUDA STREQUAL AUTO)
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    message(STATUS "CUDA backend: left out, no nvcc here")
    return()
  endif()
elseif(NOT DETOPS_CUDA)
  return()
endif()

set(architectures ${DETOPS_CUDA_ARCHITECTURES})
if(architectures STREQUAL native)
  # CMake's own native is an error where no GPU is.
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE capabilities ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" architectures "${capabilities}")
  list(REMOVE_DUPLICATES architectures)
  list(TRANSFORM architectures REPLACE "([0-9]+)\\.([0-9]+)" "\\1\\2-real")
endif()
if(architectures STREQUAL ALL OR NOT architectures)
  set(architectures ${detops_cuda_all})
endif()
set(CMAKE_CUDA_ARCHITECTURES ${architectures})
enable_language(CUDA)
message(STATUS "CUDA backend: for ${architectures}")

file(GLOB_RECURSE detops_cuda_sources CONFIGURE_DEPENDS src/*.cu)
add_library(detops_cuda MODULE ${detops_cuda_sources} src/core/tensor_desc.cc)
detops_list_operators(list_cuda.h CudaOperators cuda.cu)
target_include_directories(detops_cuda PRIVATE include src ${DETOPS_GENERATED})
target_compile_definitions(detops_cuda PRIVATE DETOPS_VERSION="${PROJECT_VERSION}")
target_compile_options(detops_cuda PRIVATE
  # One rounding an operation, as on the processor.
  $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false>
  # CUDA_STANDARD 20 is unknown to CMake 3.25 with nvcc 13.
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr -lineinfo>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-ffp-contract=off>
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
set_target_properties(detops_cuda PROPERTIES
  CXX_STANDARD 20
  CUDA_RUNTIME_LIBRARY Static
  CUDA_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
  LIBRARY_OUTPUT_DIRECTORY $<TARGET_FILE_DIR:detops>)
