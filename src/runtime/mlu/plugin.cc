// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin.h"

#include "ops/list_mlu.h"
#include "runtime/mlu/mlu_device.h"

extern "C" __attribute__((visibility("default"))) const detops::runtime::Plugin& detopsPlugin() {
  using namespace detops;
  static const runtime::Plugin plugin = {
      DETOPS_VERSION, runtime::MluDevices,
      [](std::string_view op) { return runtime::FindImplementation(ops::MluOperators(), op); }};
  return plugin;
}
