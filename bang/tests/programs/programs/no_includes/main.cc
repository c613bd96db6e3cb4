// The host's side with the older names; kernel.mlu has no #include at all.
#include <stdio.h>
#include <stdlib.h>

#include "cnrt.h"

void launch(float *out, float *in, int rows, int chunk, cnrtQueue_t queue);

int main() {
  const int rows = 50, width = 300;
  float *in = (float *)malloc(rows * width * sizeof(float)), out[300];
  for (int i = 0; i < rows * width; i++) in[i] = (float)(i % 10);
  cnrtInit(0);
  cnrtDev_t dev;
  cnrtGetDeviceHandle(&dev, 0);
  cnrtSetCurrentDevice(dev);
  cnrtQueue_t queue;
  cnrtCreateQueue(&queue);
  cnrtNotifier_t start, end;
  cnrtCreateNotifier(&start);
  cnrtCreateNotifier(&end);
  float *mlu_in, *mlu_out;
  if (CNRT_RET_SUCCESS != cnrtMalloc((void **)&mlu_in, rows * width * sizeof(float))) {
    printf("cnrtMalloc failed\n");
    exit(-1);
  }
  cnrtMalloc((void **)&mlu_out, width * sizeof(float));
  cnrtMemcpy(mlu_in, in, rows * width * sizeof(float), CNRT_MEM_TRANS_DIR_HOST2DEV);
  cnrtPlaceNotifier(start, queue);
  launch(mlu_out, mlu_in, rows, 8, queue);
  cnrtPlaceNotifier(end, queue);
  if (cnrtSyncQueue(queue) != CNRT_RET_SUCCESS) return 1;
  float us = 0;
  cnrtNotifierDuration(start, end, &us);
  cnrtMemcpy(out, mlu_out, width * sizeof(float), CNRT_MEM_TRANS_DIR_DEV2HOST);
  int wrong = us <= 0;
  for (int c = 0; c < width; c++) {
    float want = 0;
    for (int r = 0; r < rows; r++) want += 0.5f * in[r * width + c];
    wrong += out[c] != want;
  }
  cnrtFree(mlu_in);
  cnrtFree(mlu_out);
  cnrtDestroyNotifier(&start);
  cnrtDestroyNotifier(&end);
  cnrtDestroyQueue(queue);
  cnrtDestroy();
  free(in);
  printf(wrong ? "%d wrong\n" : "ok\n", wrong);
  return wrong != 0;
}
