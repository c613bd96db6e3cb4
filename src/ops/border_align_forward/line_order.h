// SPDX-License-Identifier: Apache-2.0
//
// Boxes in the order of the lines that a border of theirs lies on. A border is straight: the top
// and the bottom read two rows of the map, the sides two columns. Borders of one line after another
// find those in the second-level cache, where a map as a whole has no room.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/checked_size.h"
#include "core/workspace.h"
#include "cpu/threads.h"
#include "ops/border_align_forward/packed_maps.h"
#include "ops/border_align_forward/plan.h"
#include "ops/border_align_forward/walk.h"

namespace detops::ops::border_align {

class LineOrder {
 public:
  // For channels read in place, if they are not few. Not where a map stays in the cache anyhow, nor
  // where boxes are too few to meet on a line.
  static bool Worthwhile(const BorderAlignForwardPlan& plan) {
    constexpr int64_t kCachedBytes = 1 << 20;
    const int64_t channel_bytes = plan.dtype == MLUOP_DTYPE_HALF ? 2 : 4;
    return plan.layout == MLUOP_LAYOUT_NHWC && plan.channels > kFewChannels &&
           plan.height * plan.width * plan.channels * channel_bytes > kCachedBytes &&
           plan.boxes >= std::max(plan.height, plan.width);
  }

  LineOrder(core::WorkspaceLayout& layout, const BorderAlignForwardPlan& plan)
      : plan_(plan),
        most_lines_(std::max(plan.height, plan.width)),
        order_(layout.Array<int64_t>(core::CheckedMul(Maps(), plan.boxes, "workspace"))),
        ends_(layout.Array<int64_t>(core::CheckedMul(Maps(), most_lines_, "workspace"))) {}

  template <class T>
  void Sort(const T* boxes, cpu::Threads& threads) {
    threads.For(Maps(), 1, [&](int64_t map, int64_t end) {
      for (; map < end; ++map) SortMap(map, boxes + map / 4 * plan_.boxes * 4);
    });
  }

  // The i-th box of a map, map = image * 4 + border.
  int64_t Box(int64_t map, int64_t i) const { return order_[map * plan_.boxes + i]; }

 private:
  int64_t Maps() const { return plan_.images * 4; }

  // A counting sort.
  template <class T>
  void SortMap(int64_t map, const T* boxes) {
    const int64_t border = map % 4, lines = border % 2 == 0 ? plan_.height : plan_.width;
    const auto line_of = [&](int64_t box) {
      const BorderWalk walk = WalkAlong(border, boxes + box * 4, 1.0f);
      const float at = border % 2 == 0 ? walk.y : walk.x;
      // Any line will do for what is outside, NaN among it. The float may be rounded up.
      if (!(at > 0.0f)) return int64_t{0};
      return std::min(static_cast<int64_t>(std::min(at, static_cast<float>(lines))), lines - 1);
    };
    int64_t* const ends = ends_ + map * most_lines_;
    int64_t* const order = order_ + map * plan_.boxes;
    std::fill_n(ends, lines, 0);
    for (int64_t box = 0; box < plan_.boxes; ++box) ++ends[line_of(box)];
    for (int64_t line = 1; line < lines; ++line) ends[line] += ends[line - 1];
    for (int64_t box = plan_.boxes; box-- > 0;) order[--ends[line_of(box)]] = box;
  }

  const BorderAlignForwardPlan& plan_;
  const int64_t most_lines_;
  int64_t* const order_;  // [image][border][boxes]
  int64_t* const ends_;   // [image][border][most_lines_] where the boxes of a line end in the order
};

}  // namespace detops::ops::border_align
