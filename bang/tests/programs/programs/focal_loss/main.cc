// SPDX-License-Identifier: Apache-2.0
//
// The host's side: how to launch depends on the card, as the driver's interface tells.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "launch.h"

static int32_t getJobLimitCapability() {
  CNcontext drv_ctx;
  CNctxConfigParam ctx_conf_param;
  if (CN_SUCCESS != cnCtxGetCurrent(&drv_ctx)) return -1;
  if (CN_SUCCESS != cnGetCtxConfigParam(drv_ctx, CN_CTX_CONFIG_UNION_LIMIT, &ctx_conf_param)) {
    return -1;
  }
  return (int32_t)ctx_conf_param.unionLimit;
}

static uint32_t getDeviceAttr(cnrtDeviceAttr_t attr) {
  int dev_ordinal = 0, device_attr = 1;
  cnrtGetDevice(&dev_ordinal);
  cnrtDeviceGetAttribute(&device_attr, attr, dev_ordinal);
  if (attr == cnrtAttrNramSizePerMcore) device_attr -= REM_FOR_STACK;
  return device_attr;
}

void policyFunc(cnrtDim3_t *k_dim, cnrtFunctionType_t *k_type, int rows) {
  const uint32_t core_num = getDeviceAttr(cnrtAttrMcorePerCluster);
  const uint32_t clusters = (rows + core_num - 1) / core_num;
  k_dim->x = core_num;
  k_dim->y = MIN(clusters, getDeviceAttr(cnrtAttrClusterCount));
  k_dim->z = 1;
  switch (getJobLimitCapability()) {
    case CN_KERNEL_CLASS_UNION:
    case CN_KERNEL_CLASS_UNION8:
    case CN_KERNEL_CLASS_UNION16: *k_type = CNRT_FUNC_TYPE_UNION1; break;
    default: *k_type = CNRT_FUNC_TYPE_BLOCK;
  }
}

template <typename T>
static int Check(cnrtDataType_t type, int N, int C, double tolerance) {
  const float alpha = 0.25f;
  std::vector<T> input(N * C), output(N * C);
  std::vector<float> x(N * C);
  std::vector<int32_t> target(N);
  for (int i = 0; i < N * C; ++i) {
    x[i] = 3 * std::sin(0.7f * (float)i);
    if (type == cnrtFloat16) {
      uint16_t bits;
      CNRT_CHECK(cnrtConvertFloatToHalf(&bits, x[i]));
      CNRT_CHECK(cnrtConvertHalfToFloat(&x[i], bits));
      input[i] = (T)bits;
    } else {
      input[i] = (T)x[i];
    }
  }
  for (int i = 0; i < N; ++i) target[i] = i * 31 % C;
  void *dev_input, *dev_target, *dev_output;
  cnrtQueue_t queue;
  CNRT_CHECK(cnrtQueueCreate(&queue));
  CNRT_CHECK(cnrtMalloc(&dev_input, N * C * sizeof(T)));
  CNRT_CHECK(cnrtMalloc(&dev_target, N * sizeof(int32_t)));
  CNRT_CHECK(cnrtMalloc(&dev_output, N * C * sizeof(T)));
  CNRT_CHECK(cnrtMemcpyAsync(dev_input, input.data(), N * C * sizeof(T), queue, cnrtMemcpyHostToDev));
  CNRT_CHECK(cnrtMemcpyAsync(dev_target, target.data(), N * 4, queue, cnrtMemcpyHostToDev));
  cnrtDim3_t k_dim;
  cnrtFunctionType_t k_type;
  policyFunc(&k_dim, &k_type, N);
  KernelFocalLoss(k_dim, k_type, queue, type, dev_input, dev_target, N, C, alpha, dev_output);
  CNRT_CHECK(cnrtGetLastError());
  CNRT_CHECK(cnrtMemcpyAsync(output.data(), dev_output, N * C * sizeof(T), queue, cnrtMemcpyDevToHost));
  CNRT_CHECK(cnrtQueueSync(queue));
  int wrong = 0;
  for (int i = 0; i < N * C; ++i) {
    const double p = 1 / (1 + std::exp(-(double)x[i]));
    const bool right = i % C == target[i / C];
    const double q = right ? p : 1 - p;
    const double want = -(right ? alpha : 1 - alpha) * (1 - q) * (1 - q) * std::log(q);
    float got = (float)output[i];
    if (type == cnrtFloat16) CNRT_CHECK(cnrtConvertHalfToFloat(&got, (uint16_t)output[i]));
    wrong += std::fabs(got - want) > tolerance;
  }
  CNRT_CHECK(cnrtFree(dev_input));
  CNRT_CHECK(cnrtFree(dev_target));
  CNRT_CHECK(cnrtFree(dev_output));
  CNRT_CHECK(cnrtQueueDestroy(queue));
  std::printf("type %d, %d rows of %d: %d wrong\n", (int)type, N, C, wrong);
  return wrong;
}

int main() {
  CNRT_CHECK(cnrtSetDevice(0));
  int wrong = 0;
  for (const int rows : {1, 7, 5000}) {
    wrong += Check<float>(CNRT_FLOAT32, rows, 80, 1e-6);
    wrong += Check<uint16_t>(CNRT_FLOAT16, rows, 80, 1e-2);
  }
  wrong += Check<float>(CNRT_FLOAT32, 9000, 1000, 1e-6);
  std::printf(wrong ? "wrong\n" : "ok\n");
  return wrong != 0;
}
