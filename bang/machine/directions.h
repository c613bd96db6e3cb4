// SPDX-License-Identifier: Apache-2.0
//
// What the names of mluMemcpyDirection_t mean.
#ifndef BANG_MACHINE_DIRECTIONS_H_
#define BANG_MACHINE_DIRECTIONS_H_

#include "bang/machine.h"
#include "clock/operations.h"

namespace bang {

struct Direction {
  const char* name;
  Space from, to;
  Pipe pipe;  // of a copy of one segment; NRAM2NRAM of several, or asynchronous in 3-D, is Move's
};

// Null: no such direction.
const Direction* GetDirection(mluMemcpyDirection_t direction);

// Why the card of this architecture has no such copy; null: it has.
const char* WhyNot(const Direction& direction, int arch, bool async, bool strided);

}  // namespace bang

#endif  // BANG_MACHINE_DIRECTIONS_H_
