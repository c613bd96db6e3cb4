// SPDX-License-Identifier: Apache-2.0
//
// How long the host's copies and memsets take.
#ifndef BANG_HOST_TRANSFER_TIME_H_
#define BANG_HOST_TRANSFER_TIME_H_

#include <stdint.h>

#include "clock/card.h"
#include "machine/device.h"

namespace bang {

inline double TransferMicroseconds(const Card& card, Engine engine, int64_t bytes) {
  const int64_t bytes_per_second =
      engine == Engine::kDeviceToDevice ? card.gdram_bandwidth : card.host_bandwidth;
  return static_cast<double>(card.host_start_ns) / 1e3 +
         static_cast<double>(bytes) / static_cast<double>(bytes_per_second) * 1e6;
}

}  // namespace bang

#endif  // BANG_HOST_TRANSFER_TIME_H_
