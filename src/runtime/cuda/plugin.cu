// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/plugin.h"

extern "C" __attribute__((visibility("default"))) const detops::cuda::Plugin& detopsCudaPlugin() {
  using namespace detops;
  static const cuda::Plugin plugin = {
      DETOPS_VERSION,           runtime::CudaDevices(),        ops::BboxOverlapsCuda(),
      ops::PolyNmsCuda(),       ops::BorderAlignForwardCuda(), ops::GenerateProposalsV2Cuda(),
      ops::PointsInBoxesCuda(),
  };
  return plugin;
}
