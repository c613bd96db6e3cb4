/* SPDX-License-Identifier: Apache-2.0 */
#include <detops/detops.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  mluOpHandle_t handle = NULL;
  if (detopsCreate(&handle, "cpu") != MLUOP_STATUS_SUCCESS) return 1;
  printf("detops %s on %s\n", detopsGetVersion(), detopsGetDevice(handle));
  if (mluOpDestroy(handle) != MLUOP_STATUS_SUCCESS) return 1;
  /* The library found is the one the headers belong to. */
  char version[32];
  snprintf(version, sizeof(version), "%d.%d.%d", DETOPS_VERSION_MAJOR, DETOPS_VERSION_MINOR,
           DETOPS_VERSION_PATCH);
  return strcmp(version, detopsGetVersion()) == 0 ? 0 : 1;
}
