# SPDX-License-Identifier: Apache-2.0
#
# Lanes are members of classes, and SVE's vectors can be that only where the compiler knows how long
# they are (cpu/lane-inl.h). The option says so for code that uses SVE: the kernels of that row,
# which runs where the processor has that length. Where all code may use SVE (-march), it would hold
# for all of it, on processors of any length: no such row then.
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
