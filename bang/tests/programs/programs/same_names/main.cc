// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <vector>

#include "names.h"

// A host's function may have the name of a device function, too.
float Scale(float x) { return -x; }

int main() {
  std::vector<float> x(64), y(64);
  for (int i = 0; i < 64; ++i) x[i] = static_cast<float>(i);
  float *dx, *dy;
  cnrtQueue_t queue;
  CNRT_CHECK(cnrtQueueCreate(&queue));
  CNRT_CHECK(cnrtMalloc((void **)&dx, 256));
  CNRT_CHECK(cnrtMalloc((void **)&dy, 256));
  CNRT_CHECK(cnrtMemcpy(dx, x.data(), 256, cnrtMemcpyHostToDev));
  int wrong = 0;
  for (const int second : {0, 1}) {
    (second ? Second : First)(dy, dx, queue);
    CNRT_CHECK(cnrtQueueSync(queue));
    CNRT_CHECK(cnrtMemcpy(y.data(), dy, 256, cnrtMemcpyDevToHost));
    const int factor = second ? 5 : 2;
    for (int i = 0; i < 64; ++i) {
      const int table = (second ? 5 : 1) + i % 4;
      wrong += y[i] != static_cast<float>(factor * i + factor + (second ? 20 : 10) + table);
    }
  }
  wrong += Scale(3) != -3;
  std::printf(wrong ? "%d wrong\n" : "ok\n", wrong);
  return wrong != 0;
}
