// SPDX-License-Identifier: Apache-2.0
//
// How long the host's copies and memsets take.
#ifndef BANG_HOST_TRANSFER_TIME_H_
#define BANG_HOST_TRANSFER_TIME_H_

#include <stdint.h>

#include "clock/card.h"
#include "machine/device.h"

namespace bang {

// Assumed: what a transfer takes before its first byte, and the speed of the host's link.
constexpr double kTransferStartMicroseconds = 10;
constexpr double kHostLinkBytesPerSecond = 24e9;

inline double TransferMicroseconds(const Card& card, Engine engine, int64_t bytes) {
  const double speed = engine == Engine::kDeviceToDevice ? static_cast<double>(card.gdram_bandwidth)
                                                         : kHostLinkBytesPerSecond;
  return kTransferStartMicroseconds + static_cast<double>(bytes) / speed * 1e6;
}

}  // namespace bang

#endif  // BANG_HOST_TRANSFER_TIME_H_
