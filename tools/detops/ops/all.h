// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/operator.h"

namespace detops::cli {

const Operator& BboxOverlaps();
const Operator& PolyNms();
const Operator& BorderAlignForward();
const Operator& GenerateProposalsV2();
const Operator& PointsInBoxes();

}  // namespace detops::cli
