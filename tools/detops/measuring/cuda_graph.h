// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "running/execution.h"

namespace detops::cli {

// Seconds per call on the device itself: calls are recorded in a CUDA graph and replayed, so that
// the host's part of a launch does not show. None on other backends, and where the program was
// built without CUDA. About that long; throws std::runtime_error with CUDA's text.
std::optional<double> SecondsInCudaGraph(Execution& execution, const std::string& device,
                                         double seconds);

}  // namespace detops::cli
