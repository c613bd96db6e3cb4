// SPDX-License-Identifier: Apache-2.0
//
// What each src/ops/<op>/cuda.cu offers.
#pragma once

#include "runtime/cuda/plugin.h"

namespace detops::ops {

cuda::Kernels<BboxOverlaps> BboxOverlapsCuda();
cuda::Kernels<PolyNms> PolyNmsCuda();
cuda::Kernels<BorderAlignForward> BorderAlignForwardCuda();
cuda::Kernels<GenerateProposalsV2> GenerateProposalsV2Cuda();
cuda::Kernels<PointsInBoxes> PointsInBoxesCuda();

}  // namespace detops::ops
