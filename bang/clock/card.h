// SPDX-License-Identifier: Apache-2.0
//
// A card, as cards/NAME.card describes it: sizes, and every cost that the clock assumes.
#ifndef BANG_CLOCK_CARD_H_
#define BANG_CLOCK_CARD_H_

#include <stdint.h>

#include <string>

namespace bang {

constexpr int kCoresPerCluster = 4;

struct Card {
  std::string name;  // "mlu590"
  int arch;          // 592
  int clusters;
  int64_t nram_bytes, nram_stack_bytes, wram_bytes, sram_bytes;  // NRAM of which the stack's share
  int64_t ldram_bytes;    // per core
  int64_t gdram_bytes;
  int64_t clock_khz;
  // ... the costs: the clock's own part of this struct.
};

// "mlu370" or "mlu590"; null if there is none of that name. The files are part of the library.
const Card* GetCard(const std::string& name);

}  // namespace bang

#endif  // BANG_CLOCK_CARD_H_
