// SPDX-License-Identifier: Apache-2.0
#include "host/attributes.h"

namespace bang {
namespace {

constexpr int64_t kMegabyte = int64_t{1} << 20;
constexpr int kMaxTaskDim = 65535;  // of each dimension; not public for these cards

// Not public: the kind of memory that has the card's bandwidth.
int64_t MemoryBusBits(const Card& card) { return card.arch == 592 ? 5120 : 384; }

}  // namespace

int MaxUnionClusters(const Card& card) {
  int clusters = 1;
  while (clusters < 8 && 2 * clusters <= card.clusters) clusters *= 2;
  return clusters;
}

bool GetAttribute(SimulatedDevice& device, int attribute, int* value) {
  const Card& card = device.card();
  const auto gives = [value](int64_t number) {
    *value = static_cast<int>(number);
    return true;
  };
  switch (attribute) {
    case cnrtAttrComputeCapabilityMajor: return gives(card.arch / 100);
    case cnrtAttrComputeCapabilityMinor: return gives(card.arch / 10 % 10);
    case cnrtAttrFP16ComputingSupported: return gives(1);
    case cnrtAttrINT8ComputingSupported: return gives(1);
    case cnrtAttrMaxDimX: return gives(kMaxTaskDim);
    case cnrtAttrMaxDimY: return gives(kMaxTaskDim);
    case cnrtAttrMaxDimZ: return gives(kMaxTaskDim);
    case cnrtAttrMaxClusterCountPerUnionTask: return gives(MaxUnionClusters(card));
    case cnrtAttrMaxClusterPerUnionLimitTask: return gives(MaxUnionClusters(card));
    case cnrtAttrClusterCount: return gives(card.clusters);
    case cnrtAttrMcorePerCluster: return gives(kCoresPerCluster);
    case cnrtAttrISAVersion: return gives(card.arch);
    case cnrtAttrNramSizePerMcore: return gives(card.nram_bytes);
    case cnrtAttrWramSizePerMcore: return gives(card.wram_bytes);
    case cnrtAttrLmemSizePerMcore: return gives(card.ldram_bytes / kMegabyte);
    case cnrtAttrSramSizePerMcore: return gives(card.sram_bytes);
    case cnrtAttrIpuClockRate: return gives(card.clock_khz);
    case cnrtAttrGmemBusWidth: return gives(MemoryBusBits(card));
    case cnrtAttrMemClockRate:
      return gives(card.gdram_bandwidth / 1000 * 8 / 2 / MemoryBusBits(card));
    case cnrtAttrTotalMemSize: return gives(card.gdram_bytes / kMegabyte);
    case cnrtAttrAvailableGlobalMemorySize:
      return gives((card.gdram_bytes - device.memory().used()) / kMegabyte);
    default: return false;
  }
}

}  // namespace bang
