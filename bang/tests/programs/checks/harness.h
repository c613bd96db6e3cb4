// SPDX-License-Identifier: Apache-2.0
//
// Runs kernels that copy: out[i] = 2 * in[i], each with a switch that breaks a rule. Without an
// argument all run as they should and the results are compared; with the name of a kernel that one
// runs broken.
#ifndef TESTS_PROGRAMS_CHECKS_HARNESS_H_
#define TESTS_PROGRAMS_CHECKS_HARNESS_H_

#include <cnrt.h>

#include <cstdio>
#include <cstring>
#include <vector>

constexpr int kElements = 4096;
constexpr int kBytes = kElements * sizeof(float);
constexpr int kPart = 1024;  // of each core of a cluster
constexpr int kPartBytes = kPart * sizeof(float);

struct Case {
  const char *name;
  unsigned dim_x;
  cnrtFunctionType_t type;
  void (*launch)(cnrtDim3_t, cnrtFunctionType_t, cnrtQueue_t, float *, float *, bool);
};

#define CASE(kernel, dim_x, type)                                                              \
  Case {                                                                                       \
    #kernel, dim_x, type,                                                                      \
        [](cnrtDim3_t d, cnrtFunctionType_t t, cnrtQueue_t q, float *out, float *in, bool b) { \
          kernel<<<d, t, q>>>(out, in, b);                                                     \
        }                                                                                      \
  }

inline int RunCases(const std::vector<Case> &cases, int argc, char **argv) {
  const char *broken = argc > 1 ? argv[1] : nullptr;
  std::vector<float> in(kElements), out(kElements);
  for (int i = 0; i < kElements; ++i) in[i] = static_cast<float>(i % 97) - 40;
  void *device_in, *device_out;
  cnrtQueue_t queue;
  CNRT_CHECK(cnrtQueueCreate(&queue));
  CNRT_CHECK(cnrtMalloc(&device_in, kBytes));
  CNRT_CHECK(cnrtMalloc(&device_out, kBytes));
  CNRT_CHECK(cnrtMemcpy(device_in, in.data(), kBytes, cnrtMemcpyHostToDev));
  int ran = 0;
  for (const Case &one : cases) {
    if (broken != nullptr && std::strcmp(broken, one.name) != 0) continue;
    ++ran;
    CNRT_CHECK(cnrtMemset(device_out, 0, kBytes));
    one.launch({one.dim_x, 1, 1}, one.type, queue, static_cast<float *>(device_out),
               static_cast<float *>(device_in), broken != nullptr);
    CNRT_CHECK(cnrtGetLastError());
    CNRT_CHECK(cnrtQueueSync(queue));
    CNRT_CHECK(cnrtMemcpy(out.data(), device_out, kBytes, cnrtMemcpyDevToHost));
    for (int i = 0; i < kElements; ++i) {
      if (out[i] == 2 * in[i]) continue;
      std::printf("%s: element %d is %g\n", one.name, i, out[i]);
      return 1;
    }
  }
  std::printf(ran != 0 ? "ok\n" : "there is no such case\n");
  return ran == 0;
}

#define MAIN(...) \
  int main(int argc, char **argv) { return RunCases({__VA_ARGS__}, argc, argv); }

#endif  // TESTS_PROGRAMS_CHECKS_HARNESS_H_
