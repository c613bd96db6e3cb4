// SPDX-License-Identifier: Apache-2.0
#include "builtins/loops.h"

namespace bang {

const Loops& HostLoops() {
#ifdef __x86_64__
  static const Loops& loops = __builtin_cpu_supports("avx512dq") &&
                                      __builtin_cpu_supports("avx512vl") &&
                                      __builtin_cpu_supports("avx512bw")
                                  ? kLoopsAvx512
                              : __builtin_cpu_supports("avx2") ? kLoopsAvx2
                                                               : kLoopsBaseline;
  return loops;
#else
  return kLoopsBaseline;
#endif
}

}  // namespace bang
