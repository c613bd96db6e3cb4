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
  # Not by CMake's own native, for where no GPU is, as on machines that build, all are meant.
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
