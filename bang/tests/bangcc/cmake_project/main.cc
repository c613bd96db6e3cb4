// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "scale.h"

void ScaleTwice(cnrtQueue_t queue, float *data, int n);

int main() {
  float host[3] = {1, 2, 3}, *device;
  cnrtQueue_t queue;
  CNRT_CHECK(cnrtQueueCreate(&queue));
  CNRT_CHECK(cnrtMalloc((void **)&device, sizeof(host)));
  CNRT_CHECK(cnrtMemcpy(device, host, sizeof(host), cnrtMemcpyHostToDev));
  ScaleTwice(queue, device, 3);
  CNRT_CHECK(cnrtQueueSync(queue));
  CNRT_CHECK(cnrtMemcpy(host, device, sizeof(host), cnrtMemcpyDevToHost));
  const bool right = host[0] == 9 && host[1] == 18 && host[2] == 27 && Arch() == 372;
  std::printf(right ? "ok\n" : "wrong\n");
  return right ? 0 : 1;
}
