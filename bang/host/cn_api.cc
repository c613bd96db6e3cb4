// SPDX-License-Identifier: Apache-2.0
#include "cn_api.h"

#include <stdio.h>

#include "host/attributes.h"
#include "host/devices.h"

namespace {

bool Exists(CNdev device) {
  return device >= 0 && device < static_cast<int>(bang::Devices().size());
}

}  // namespace

CNresult cnInit(unsigned int) { return CN_SUCCESS; }

CNresult cnDeviceGetCount(int* count) {
  if (count == nullptr) return CN_ERROR_INVALID_VALUE;
  *count = static_cast<int>(bang::Devices().size());
  return CN_SUCCESS;
}

CNresult cnDeviceGet(CNdev* device, int ordinal) {
  if (device == nullptr) return CN_ERROR_INVALID_VALUE;
  if (!Exists(ordinal)) return CN_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CN_SUCCESS;
}

CNresult cnDeviceGetName(char* name, int bytes, CNdev device) {
  if (name == nullptr || bytes <= 0) return CN_ERROR_INVALID_VALUE;
  if (!Exists(device)) return CN_ERROR_INVALID_DEVICE;
  snprintf(name, static_cast<size_t>(bytes), "%s", bang::Devices()[device]->name().c_str());
  return CN_SUCCESS;
}

CNresult cnDeviceGetAttribute(int* value, CNdevice_attribute attribute, CNdev device) {
  if (value == nullptr) return CN_ERROR_INVALID_VALUE;
  if (!Exists(device)) return CN_ERROR_INVALID_DEVICE;
  return bang::GetAttribute(*bang::Devices()[device], attribute, value) ? CN_SUCCESS
                                                                        : CN_ERROR_INVALID_VALUE;
}

// A context is no more than its device.
CNresult cnCtxGetCurrent(CNcontext* context) {
  if (context == nullptr) return CN_ERROR_INVALID_VALUE;
  *context = reinterpret_cast<CNcontext>(&bang::Current());
  return CN_SUCCESS;
}

CNresult cnCtxGetDevice(CNdev* device) {
  if (device == nullptr) return CN_ERROR_INVALID_VALUE;
  *device = bang::Current().ordinal();
  return CN_SUCCESS;
}

CNresult cnGetCtxConfigParam(CNcontext context, CNctxConfigParamType type,
                             CNctxConfigParam* value) {
  if (context == nullptr || value == nullptr) return CN_ERROR_INVALID_VALUE;
  const bang::Card& card = reinterpret_cast<bang::SimulatedDevice*>(context)->card();
  switch (type) {
    case CN_CTX_CONFIG_VISIBLE_CLUSTER:
      value->visibleCluster = (uint64_t{1} << card.clusters) - 1;
      return CN_SUCCESS;
    case CN_CTX_CONFIG_VISIBLE_CLUSTER_NUM:
      value->visibleClusterNumber = static_cast<uint64_t>(card.clusters);
      return CN_SUCCESS;
    case CN_CTX_CONFIG_UNION_LIMIT:
      value->unionLimit =
          static_cast<KernelClass>(CN_KERNEL_CLASS_UNION * bang::MaxUnionClusters(card));
      return CN_SUCCESS;
  }
  return CN_ERROR_INVALID_VALUE;
}

CNresult cnGetErrorString(CNresult error, const char** text) {
  if (text == nullptr) return CN_ERROR_INVALID_VALUE;
  switch (error) {
    case CN_SUCCESS: *text = "CN_SUCCESS"; break;
    case CN_ERROR_INVALID_DEVICE: *text = "CN_ERROR_INVALID_DEVICE"; break;
    case CN_ERROR_INVALID_VALUE: *text = "CN_ERROR_INVALID_VALUE"; break;
    default: *text = "CN_ERROR_UNKNOWN"; break;
  }
  return CN_SUCCESS;
}
