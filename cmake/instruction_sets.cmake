# SPDX-License-Identifier: Apache-2.0
#
# The Highway targets that kernels are compiled for. There is no implementation for SSSE3: processors
# that have it and not SSE4 take the reference. SVE has one for vectors of 256 bits, the length that
# the compiler is told; other lengths take NEON.
set(disabled HWY_SSSE3 HWY_SVE HWY_SVE2 HWY_SVE2_128)

# Lanes are members of classes, and SVE's vectors can be that only where the compiler knows how long
# they are (cpu/lane-inl.h). The option says so for code that uses SVE: the kernels of that implementation,
# which runs where the processor has that length. Where all code may use SVE (-march), it would hold
# for all of it, on processors of any length: no such implementation then.
include(CheckCXXSourceCompiles)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(CMAKE_REQUIRED_FLAGS -msve-vector-bits=256)
  check_cxx_source_compiles("
    #ifdef __ARM_FEATURE_SVE
    #error all code
    #endif
    #pragma GCC target(\"+sve\")
    #include <arm_sve.h>
    typedef svfloat32_t Stored __attribute__((arm_sve_vector_bits(256)));
    struct Lane { Stored v; };
    int main() { return 0; }" DETOPS_SVE256)
  unset(CMAKE_REQUIRED_FLAGS)
endif()
if(DETOPS_SVE256)
  target_compile_options(detops PRIVATE -msve-vector-bits=256)
endif()
if(NOT DETOPS_SVE256)
  list(APPEND disabled HWY_SVE_256)
endif()

if(DETOPS_QUICK AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null
                  OUTPUT_VARIABLE macros ERROR_QUIET)
  if(macros MATCHES "__AVX512BW__" AND macros MATCHES "__AVX512DQ__" AND macros MATCHES "__AVX512VL__")
    list(APPEND disabled HWY_AVX2 HWY_SSE4)
  elseif(macros MATCHES "__AVX2__")
    list(APPEND disabled HWY_AVX3 HWY_SSE4)
  endif()
endif()
list(JOIN disabled "|" disabled)
target_compile_definitions(detops PRIVATE "HWY_DISABLED_TARGETS=(${disabled})")
