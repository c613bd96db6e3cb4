// SPDX-License-Identifier: Apache-2.0
#include "ops/list_cuda.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/plugin.h"

extern "C" __attribute__((visibility("default"))) const detops::runtime::Plugin& detopsPlugin() {
  using namespace detops;
  static const runtime::Plugin plugin = {
      DETOPS_VERSION, runtime::CudaDevices,
      [](std::string_view op) { return runtime::FindImplementation(ops::CudaOperators(), op); }};
  return plugin;
}
