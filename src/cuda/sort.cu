// SPDX-License-Identifier: Apache-2.0
#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "cuda/sort.h"

namespace detops::cuda {

size_t SortTemporaryBytes(int64_t count) {
  cub::DoubleBuffer<uint64_t> keys(nullptr, nullptr);
  cub::DoubleBuffer<uint32_t> values(nullptr, nullptr);
  size_t bytes = 0;
  Check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, count), "sizing a sort");
  return bytes;
}

const uint32_t* SortByKey(const Launcher& launch, void* temporary, size_t temporary_bytes,
                          const SortBuffers& buffers, int64_t count, int bits) {
  cub::DoubleBuffer<uint64_t> keys(buffers.keys[0], buffers.keys[1]);
  cub::DoubleBuffer<uint32_t> values(buffers.values[0], buffers.values[1]);
  Check(cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, keys, values, count, 0, bits,
                                        launch.stream()),
        "sorting");
  return values.Current();
}

size_t SelectTemporaryBytes(int64_t count) {
  size_t bytes = 0;
  Check(
      cub::DeviceSelect::Flagged(nullptr, bytes, thrust::counting_iterator<int32_t>(0),
                                 static_cast<const bool*>(nullptr), static_cast<int32_t*>(nullptr),
                                 static_cast<int32_t*>(nullptr), count),
      "sizing a selection");
  return bytes;
}

void SelectIndices(const Launcher& launch, void* temporary, size_t temporary_bytes,
                   const bool* flags, int64_t count, int32_t* indices, int32_t* selected) {
  Check(
      cub::DeviceSelect::Flagged(temporary, temporary_bytes, thrust::counting_iterator<int32_t>(0),
                                 flags, indices, selected, count, launch.stream()),
      "selecting");
}

size_t ScanTemporaryBytes(int64_t count) {
  size_t bytes = 0;
  Check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, static_cast<uint32_t*>(nullptr), count),
        "sizing a scan");
  return bytes;
}

void ExclusiveSum(const Launcher& launch, void* temporary, size_t temporary_bytes, uint32_t* values,
                  int64_t count) {
  Check(cub::DeviceScan::ExclusiveSum(temporary, temporary_bytes, values, count, launch.stream()),
        "scanning");
}

}  // namespace detops::cuda
