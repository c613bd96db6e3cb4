// SPDX-License-Identifier: Apache-2.0
//
// cnrt.h: devices, and what they are like.
#include <stdio.h>
#include <string.h>

#include "cnrt.h"
#include "host/attributes.h"
#include "host/devices.h"
#include "host/report.h"

namespace {

bool Exists(int ordinal) {
  return ordinal >= 0 && ordinal < static_cast<int>(bang::Devices().size());
}

cnrtRet_t NoSuchDevice(const char* call, int ordinal) {
  return bang::Fail(cnrtErrorDeviceInvalid, call, "there is no device %d; there are %zu", ordinal,
                    bang::Devices().size());
}

cnrtRet_t Null(const char* call, const char* argument) {
  return bang::Fail(cnrtErrorArgsInvalid, call, "%s is null", argument);
}

}  // namespace

cnrtRet_t cnrtGetDeviceCount(unsigned int* count) {
  if (count == nullptr) return Null("cnrtGetDeviceCount", "count");
  *count = static_cast<unsigned int>(bang::Devices().size());
  return cnrtSuccess;
}

cnrtRet_t cnrtGetDevice(int* ordinal) {
  if (ordinal == nullptr) return Null("cnrtGetDevice", "ordinal");
  *ordinal = bang::Current().ordinal();
  return cnrtSuccess;
}

cnrtRet_t cnrtSetDevice(int ordinal) {
  if (!Exists(ordinal)) return NoSuchDevice("cnrtSetDevice", ordinal);
  bang::SetCurrent(ordinal);
  return cnrtSuccess;
}

cnrtRet_t cnrtDeviceGetAttribute(int* value, cnrtDeviceAttr_t attribute, int ordinal) {
  if (value == nullptr) return Null("cnrtDeviceGetAttribute", "value");
  if (!Exists(ordinal)) return NoSuchDevice("cnrtDeviceGetAttribute", ordinal);
  if (!bang::GetAttribute(*bang::Devices()[ordinal], attribute, value)) {
    return bang::Fail(cnrtErrorNoAttribute, "cnrtDeviceGetAttribute", "there is no attribute 0x%x",
                      static_cast<unsigned>(attribute));
  }
  return cnrtSuccess;
}

cnrtRet_t cnrtGetDeviceProperties(cnrtDeviceProp_t* properties, int ordinal) {
  if (properties == nullptr) return Null("cnrtGetDeviceProperties", "properties");
  if (!Exists(ordinal)) return NoSuchDevice("cnrtGetDeviceProperties", ordinal);
  bang::SimulatedDevice& device = *bang::Devices()[ordinal];
  *properties = {};
  snprintf(properties->name, sizeof properties->name, "%s", device.name().c_str());
  properties->totalGlobalMemSize = static_cast<uint64_t>(device.card().gdram_bytes);
  const struct {
    cnrtDeviceAttr_t attribute;
    int* value;
  } members[] = {
      {cnrtAttrTotalMemSize, &properties->totalMem},
      {cnrtAttrMaxDimX, &properties->maxDim[0]},
      {cnrtAttrMaxDimY, &properties->maxDim[1]},
      {cnrtAttrMaxDimZ, &properties->maxDim[2]},
      {cnrtAttrIpuClockRate, &properties->ipuClockRate},
      {cnrtAttrComputeCapabilityMajor, &properties->major},
      {cnrtAttrComputeCapabilityMinor, &properties->minor},
      {cnrtAttrFP16ComputingSupported, &properties->FP16ComputingSupported},
      {cnrtAttrINT8ComputingSupported, &properties->INT8ComputingSupported},
      {cnrtAttrMaxClusterCountPerUnionTask, &properties->maxClusterCountPerUnionTask},
      {cnrtAttrClusterCount, &properties->clusterCount},
      {cnrtAttrMcorePerCluster, &properties->McorePerCluster},
      {cnrtAttrISAVersion, &properties->ISAVersion},
      {cnrtAttrNramSizePerMcore, &properties->NramSizePerMcore},
      {cnrtAttrWramSizePerMcore, &properties->WramSizePerMcore},
      {cnrtAttrLmemSizePerMcore, &properties->LmemSizePerMcore},
      {cnrtAttrSramSizePerMcore, &properties->SramSizePerMcore},
      {cnrtAttrAvailableGlobalMemorySize, &properties->availableGlobalMemorySize},
  };
  for (const auto& member : members) bang::GetAttribute(device, member.attribute, member.value);
  return cnrtSuccess;
}

cnrtRet_t cnrtSyncDevice(void) {
  bang::SimulatedDevice& device = bang::Current();
  device.WaitForAll();
  return device.sticky_error();
}

cnrtRet_t cnrtDeviceReset(void) {
  bang::Current().Reset();
  bang::SetLastError(cnrtSuccess);
  return cnrtSuccess;
}

cnrtRet_t cnrtGetLibVersion(int* major, int* minor, int* patch) {
  if (major == nullptr || minor == nullptr || patch == nullptr) {
    return Null("cnrtGetLibVersion", "major, minor or patch");
  }
  // Of the interface whose names this has.
  *major = 6;
  *minor = 14;
  *patch = 1;
  return cnrtSuccess;
}

// The older names.

cnrtRet_t cnrtInit(unsigned int) { return cnrtSuccess; }
void cnrtDestroy(void) {}

cnrtRet_t cnrtGetDeviceHandle(cnrtDev_t* device, int ordinal) {
  if (device == nullptr) return Null("cnrtGetDeviceHandle", "device");
  if (!Exists(ordinal)) return NoSuchDevice("cnrtGetDeviceHandle", ordinal);
  *device = static_cast<cnrtDev_t>(ordinal);
  return cnrtSuccess;
}

cnrtRet_t cnrtSetCurrentDevice(cnrtDev_t device) {
  return cnrtSetDevice(device < bang::Devices().size() ? static_cast<int>(device) : -1);
}

cnrtRet_t cnrtGetCurrentDevice(cnrtDev_t* device) {
  if (device == nullptr) return Null("cnrtGetCurrentDevice", "device");
  *device = static_cast<cnrtDev_t>(bang::Current().ordinal());
  return cnrtSuccess;
}
