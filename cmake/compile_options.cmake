# SPDX-License-Identifier: Apache-2.0
#
# What every target of this project is compiled with.
add_library(detops_compile_options INTERFACE)
target_compile_options(detops_compile_options INTERFACE
  # One rounding an operation: the same bits on every machine.
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
  # 32-bit x86 would keep floats in 80-bit registers.
  $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},i686>:-msse2 -mfpmath=sse>
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion>)

if(DETOPS_SANITIZE)
  target_compile_options(detops_compile_options INTERFACE
    -fsanitize=${DETOPS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    # C callers may pass any int where an enum is declared; the API promises to refuse it.
    -fno-sanitize=enum)
  target_link_options(detops_compile_options INTERFACE -fsanitize=${DETOPS_SANITIZE})
endif()
