// SPDX-License-Identifier: Apache-2.0
//
// Boxes sorted by the line of the map that one of their borders lies on. A border is straight: the
// top and the bottom read two rows of the map, the sides two columns. Processed line by line,
// borders find their pixels in the first- or second-level cache, which the whole map does not fit
// into.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "core/checked_size.h"
#include "core/workspace.h"
#include "ops/border_align_forward/packed_maps.h"
#include "ops/border_align_forward/plan.h"
#include "ops/border_align_forward/walk.h"
#include "runtime/cpu/threads.h"

namespace detops::ops::border_align {

class LineOrder {
 public:
  // For this many channels together. Not where their map is small, nor where there are too few
  // boxes to share lines.
  static bool Worthwhile(const BorderAlignForwardPlan& plan, int64_t channels, int64_t boxes) {
    constexpr int64_t kSmallBytes = 1 << 18;
    const int64_t channel_bytes = plan.dtype == MLUOP_DTYPE_HALF ? 2 : 4;
    return plan.height * plan.width * channels * channel_bytes > kSmallBytes &&
           boxes >= std::max(plan.height, plan.width);
  }

  // For all channels, read in place, unless they are few.
  static bool WorthwhileInPlace(const BorderAlignForwardPlan& plan) {
    return plan.layout == MLUOP_LAYOUT_NHWC && plan.channels > kFewChannels &&
           Worthwhile(plan, plan.channels, plan.boxes);
  }

  // Sorts each range of `boxes` consecutive boxes by itself.
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

  // A counting sort. Where another thread changes the boxes between the two passes, some may come
  // twice and others never, but no entry of the order is anything but a box.
  template <class T>
  void SortBoxes(int64_t map, const T* boxes, int64_t first, int64_t end) {
    const int64_t border = map % 4, lines = border % 2 == 0 ? plan_.height : plan_.width;
    const auto line_of = [&](int64_t box) {
      const BorderWalk walk = WalkAlong(border, boxes + box * 4, 1.0f);
      const float at = border % 2 == 0 ? walk.y : walk.x;
      // Boxes outside, including NaN, may go to any line. The float may have been rounded up.
      if (!(at > 0.0f)) return int64_t{0};
      return std::min(static_cast<int64_t>(std::min(at, static_cast<float>(lines))), lines - 1);
    };
    int64_t* const ends = ends_ + map * most_lines_;
    int64_t* const order = order_ + map * plan_.boxes + first;
    std::fill_n(ends, lines, 0);
    for (int64_t box = first; box < end; ++box) ++ends[line_of(box)];
    for (int64_t line = 1; line < lines; ++line) ends[line] += ends[line - 1];
    std::iota(order, order + (end - first), first);
    for (int64_t box = end; box-- > first;) {
      int64_t& place = ends[line_of(box)];
      if (place > 0) order[--place] = box;
    }
  }

  const BorderAlignForwardPlan& plan_;
  const int64_t boxes_;
  const int64_t most_lines_;
  int64_t* const order_;  // [image][border][boxes]
  int64_t* const ends_;   // [image][border][most_lines_] where the boxes of a line end in the order
};

}  // namespace detops::ops::border_align
