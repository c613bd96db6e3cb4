// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "running/execution.h"

namespace detops::cli {

// A call on the device itself, by the runtime's notifiers. On a simulated device both are the same
// in each run but for the host's, from which what the simulator took is left out.
struct CallTime {
  double device = 0;  // seconds; 0 where the simulator's clock gave up
  double host = 0;    // seconds until the function has returned
};

// Makes one call, and waits for it.
CallTime TimeCall(Execution& execution);

}  // namespace detops::cli
