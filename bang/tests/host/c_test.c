/* SPDX-License-Identifier: Apache-2.0
 *
 * The headers in C11, and one round through the device. --expect=mlu590,mlu370 lists the devices
 * that there must be; nothing behind the = is what there is by default. */
#include <cn_api.h>
#include <cnrt.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                            \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                    \
    }                                                                \
  } while (0)

static void ExpectDevices(const char* names) {
  const char* expected[2] = {
      strncmp(names, "mlu370", 6) == 0 ? "MLU370 (simulated)" : "MLU590 (simulated)",
      strstr(names, ",mlu370") ? "MLU370 (simulated)" : "MLU590 (simulated)"};
  const unsigned int expected_count = strchr(names, ',') ? 2 : 1;
  unsigned int count = 0;
  CNRT_CHECK(cnrtGetDeviceCount(&count));
  EXPECT(count == expected_count);
  for (unsigned int i = 0; i < count; ++i) {
    cnrtDeviceProp_t properties;
    CNRT_CHECK(cnrtGetDeviceProperties(&properties, (int)i));
    EXPECT(strcmp(properties.name, expected[i]) == 0);
  }
}

static void RoundTrip(void) {
  int host[256];
  int back[256] = {0};
  for (int i = 0; i < 256; ++i) host[i] = i * i;
  cnrtQueue_t queue;
  cnrtNotifier_t start;
  cnrtNotifier_t end;
  void* device = NULL;
  float microseconds = 0;
  CNRT_CHECK(cnrtInit(0));
  CNRT_CHECK(cnrtSetDevice(0));
  CNRT_CHECK(cnrtQueueCreate(&queue));
  CNRT_CHECK(cnrtNotifierCreate(&start));
  CNRT_CHECK(cnrtNotifierCreate(&end));
  CNRT_CHECK(cnrtMalloc(&device, sizeof host));
  CNRT_CHECK(cnrtPlaceNotifier(start, queue));
  CNRT_CHECK(cnrtMemcpyAsync(device, host, sizeof host, queue, CNRT_MEM_TRANS_DIR_HOST2DEV));
  CNRT_CHECK(cnrtPlaceNotifier(end, queue));
  CNRT_CHECK(cnrtSyncQueue(queue));
  CNRT_CHECK(cnrtMemcpy(back, device, sizeof back, cnrtMemcpyDevToHost));
  EXPECT(memcmp(host, back, sizeof host) == 0);
  CNRT_CHECK(cnrtNotifierDuration(start, end, &microseconds));
  EXPECT(microseconds > 0);
  CNRT_CHECK(cnrtFree(device));
  CNRT_CHECK(cnrtNotifierDestroy(start));
  CNRT_CHECK(cnrtDestroyNotifier(&end));
  CNRT_CHECK(cnrtQueueDestroy(queue));
  cnrtDestroy();
}

static void Driver(void) {
  CNcontext context;
  CNctxConfigParam parameter;
  int cores = 0;
  EXPECT(cnInit(0) == CN_SUCCESS);
  EXPECT(cnCtxGetCurrent(&context) == CN_SUCCESS);
  EXPECT(cnGetCtxConfigParam(context, CN_CTX_CONFIG_UNION_LIMIT, &parameter) == CN_SUCCESS);
  EXPECT(parameter.unionLimit == CN_KERNEL_CLASS_UNION8);
  EXPECT(cnDeviceGetAttribute(&cores, CN_DEVICE_ATTRIBUTE_MAX_CORE_COUNT_PER_CLUSTER, 0) ==
         CN_SUCCESS);
  EXPECT(cores == 4);
}

int main(int argc, char** argv) {
  const cnrtDim3_t dim = {4, 1, 1};
  const cnrtJobType_t type = CNRT_FUNC_TYPE_UNION1;
  EXPECT(dim.x == (unsigned int)type);
  if (argc > 1 && strncmp(argv[1], "--expect=", 9) == 0) ExpectDevices(argv[1] + 9);
  RoundTrip();
  Driver();
  printf(failures ? "%d wrong\n" : "ok\n", failures);
  return failures != 0;
}
