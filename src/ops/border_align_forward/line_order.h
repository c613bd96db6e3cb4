// SPDX-License-Identifier: Apache-2.0
//
// Boxes in the order of the lines that a border of theirs lies on. A border is straight: the top
// and the bottom read two rows of the map, the sides two columns. Borders of one line after another
// find those nearby, in the first or second level of the cache, where a map as a whole has no room.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/checked_size.h"
#include "core/workspace.h"
#include "ops/border_align_forward/packed_maps.h"
#include "ops/border_align_forward/plan.h"
#include "ops/border_align_forward/walk.h"
#include "runtime/cpu/threads.h"

namespace detops::ops::border_align {

class LineOrder {
 public:
  // For so many channels together. Not where a map of them is small, nor where boxes are too few to
  // meet on a line.
  static bool Worthwhile(const BorderAlignForwardPlan& plan, int64_t channels, int64_t boxes) {
    constexpr int64_t kSmallBytes = 1 << 18;
    const int64_t channel_bytes = plan.dtype == MLUOP_DTYPE_HALF ? 2 : 4;
    return plan.height * plan.width * channels * channel_bytes > kSmallBytes &&
           boxes >= std::max(plan.height, plan.width);
  }

  // For all channels where they lie in memory, if they are not few.
  static bool WorthwhileInPlace(const BorderAlignForwardPlan& plan) {
    return plan.layout == MLUOP_LAYOUT_NHWC && plan.channels > kFewChannels &&
           Worthwhile(plan, plan.channels, plan.boxes);
  }

  // Of each `boxes` that follow each other.
  LineOrder(core::WorkspaceLayout& layout, const BorderAlignForwardPlan& plan, int64_t boxes)
      : plan_(plan),
        boxes_(boxes),
        most_lines_(std::max(plan.height, plan.width)),
        order_(layout.Array<int64_t>(core::CheckedMul(Maps(), plan.boxes, "workspace"))),
        ends_(layout.Array<int64_t>(core::CheckedMul(Maps(), most_lines_, "workspace"))) {}

  template <class T>
  void Sort(const T* boxes, runtime::Threads& threads) {
    threads.For(Maps(), 1, [&](int64_t map, int64_t end) {
      for (; map < end; ++map) {
        for (int64_t first = 0; first < plan_.boxes; first += boxes_) {
          SortBoxes(map, boxes + map / 4 * plan_.boxes * 4, first,
                    std::min(first + boxes_, plan_.boxes));
        }
      }
    });
  }

  // The i-th box of a map, map = image * 4 + border.
  int64_t Box(int64_t map, int64_t i) const { return order_[map * plan_.boxes + i]; }

 private:
  int64_t Maps() const { return plan_.images * 4; }

  // A counting sort.
  template <class T>
  void SortBoxes(int64_t map, const T* boxes, int64_t first, int64_t end) {
    const int64_t border = map % 4, lines = border % 2 == 0 ? plan_.height : plan_.width;
    const auto line_of = [&](int64_t box) {
      const BorderWalk walk = WalkAlong(border, boxes + box * 4, 1.0f);
      const float at = border % 2 == 0 ? walk.y : walk.x;
      // Any line will do for what is outside, NaN among it. The float may be rounded up.
      if (!(at > 0.0f)) return int64_t{0};
      return std::min(static_cast<int64_t>(std::min(at, static_cast<float>(lines))), lines - 1);
    };
    int64_t* const ends = ends_ + map * most_lines_;
    int64_t* const order = order_ + map * plan_.boxes + first;
    std::fill_n(ends, lines, 0);
    for (int64_t box = first; box < end; ++box) ++ends[line_of(box)];
    for (int64_t line = 1; line < lines; ++line) ends[line] += ends[line - 1];
    for (int64_t box = end; box-- > first;) order[--ends[line_of(box)]] = box;
  }

  const BorderAlignForwardPlan& plan_;
  const int64_t boxes_;
  const int64_t most_lines_;
  int64_t* const order_;  // [image][border][boxes]
  int64_t* const ends_;   // [image][border][most_lines_] where the boxes of a line end in the order
};

}  // namespace detops::ops::border_align
