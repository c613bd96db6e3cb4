// SPDX-License-Identifier: Apache-2.0
#include "ops/points_in_boxes/tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/points_in_boxes/footprint.h"

namespace detops::ops::points_in_boxes {
namespace {

constexpr float kMax = std::numeric_limits<float>::max();
// A cut is good if it leaves at most this share of the tests.
constexpr double kGood = 0.9;
// Not even the ends of the boxes are considered where their centres leave less than this.
constexpr double kVeryGood = 0.65;
// Long rotated boxes come apart only after some cuts: their bounds overlap more than they do.
constexpr int32_t kTries = 6;
// To examine a box for a split takes about as long as this many tests, which it has to save.
constexpr double kSplitCost = 64.0;
// Fewer than this say too little about how many points there are.
constexpr int32_t kFewSamples = 4;

// Narrows [low, high], the extent of a box along one axis of the ground plane, to where
// |d * c + e * s| <= reach for some e in [from, to], along the other axis; all are distances from
// the box's centre. Rounding errs towards more by the slack of Footprint.
void Narrow(double c, double s, double reach, double from, double to, double& low, double& high) {
  if (std::abs(c) < 1e-3) return;  // parallel to the axis, nearly
  const double e1 = std::min(from * s, to * s), e2 = std::max(from * s, to * s);
  const double d1 = (-reach - e2) / c, d2 = (reach - e1) / c;
  low = std::max(low, c > 0.0 ? d1 : d2);
  high = std::min(high, c > 0.0 ? d2 : d1);
}

// Bounds of the part of a box that lies in the region; false if there is none.
bool ClipTo(const Bounds3d& region, const FlatBox& box, const Bounds3d& bounds, Bounds3d& clipped) {
  for (int axis = 0; axis < 3; ++axis) {
    clipped.low[axis] = std::max(bounds.low[axis], region.low[axis]);
    clipped.high[axis] = std::min(bounds.high[axis], region.high[axis]);
    if (clipped.low[axis] > clipped.high[axis]) return false;
  }
  const Footprint r(box);
  const double x1 = clipped.low[0] - r.x, x2 = clipped.high[0] - r.x;
  const double y1 = clipped.low[1] - r.y, y2 = clipped.high[1] - r.y;
  double low = x1, high = x2;
  Narrow(r.cos, -r.sin, r.reach_x, y1, y2, low, high);
  Narrow(r.sin, r.cos, r.reach_y, y1, y2, low, high);
  if (low > high) return false;
  if (low > x1) clipped.low[0] = RoundDown(r.x + low);
  if (high < x2) clipped.high[0] = RoundUp(r.x + high);
  low = y1;
  high = y2;
  Narrow(-r.sin, r.cos, r.reach_x, x1, x2, low, high);
  Narrow(r.cos, r.sin, r.reach_y, x1, x2, low, high);
  if (low > high) return false;
  if (low > y1) clipped.low[1] = RoundDown(r.y + low);
  if (high < y2) clipped.high[1] = RoundUp(r.y + high);
  return true;
}

}  // namespace

Tree::Tree(core::WorkspaceLayout& layout, int64_t points, int64_t boxes) {
  most_nodes_ = std::min<int64_t>(2 * boxes, 1 << 30);  // places are 32 bits wide
  most_parts_ = SampleCount(points) / kFewSamples;
  // At most a third of the time that testing every box with every point would take.
  most_work_ = core::CheckedMul(std::min<int64_t>(points / 128, 128), boxes, "boxes");
  nodes_ = layout.Array<Node>(most_nodes_);
  parts_ = layout.Array<Part>(most_parts_);
  samples_ = layout.Array<SamplePoint>(SampleCount(points));
  clipped_boxes_ = layout.Array<int32_t>(boxes);
  clipped_ = layout.Array<Bounds3d>(boxes);
  keys_ = layout.Array<float>(boxes);
  for (int32_t*& half : halves_) half = layout.Array<int32_t>(boxes);
}

void Tree::Clear(int32_t* lists, int64_t used, int64_t end) {
  lists_ = lists;
  used_ = used;
  end_ = end;
  node_count_ = part_count_ = work_ = 0;
}

void Tree::Push(const Part& part) {
  if (part.length <= kShort || part.samples < kFewSamples || part.tries < 0) return;
  parts_[part_count_++] = part;
  std::push_heap(parts_, parts_ + part_count_);
}

void Tree::Add(Place* place, int64_t length, const float (&low)[2], const float (&high)[2],
               std::span<SamplePoint> samples) {
  Part part = {.place = place,
               .length = static_cast<int32_t>(length),
               .tries = kTries,
               .first_sample = static_cast<int32_t>(samples.data() - samples_),
               .samples = static_cast<int32_t>(samples.size()),
               .owned = true,
               .weight = 0.0,
               .region = {{-kMax, -kMax, -kMax}, {kMax, kMax, kMax}}};
  for (const SamplePoint& sample : samples) part.weight += sample.share;
  for (int axis = 0; axis < 2; ++axis) {
    part.region.low[axis] = std::max(low[axis], -kMax);
    part.region.high[axis] = std::min(high[axis], kMax);
  }
  Push(part);
}

void Tree::Split(const FlatBox* boxes, const Bounds3d* bounds, double points_per_sample) {
  while (part_count_ > 0) {
    std::pop_heap(parts_, parts_ + part_count_);
    const Part part = parts_[--part_count_];
    const int64_t room = (part.owned ? 1 : 2) * int64_t{part.length};
    if (0.5 * part.weight * points_per_sample < kSplitCost || work_ + part.length > most_work_ ||
        used_ + room > end_ || node_count_ == most_nodes_) {
      continue;  // another one may still fit
    }
    work_ += part.length;
    Clip(part, boxes, bounds);
    const Cut cut = Choose(part, points_per_sample);
    if (cut.axis >= 0) Apply(part, cut, boxes);
  }
}

void Tree::Clip(const Part& part, const FlatBox* boxes, const Bounds3d* bounds) {
  clipped_count_ = 0;
  for (int32_t i = 0; i < part.length; ++i) {
    const int32_t box = BoxOf(lists_[*part.place + i]);
    clipped_boxes_[clipped_count_] = box;
    if (ClipTo(part.region, boxes[box], bounds[box], clipped_[clipped_count_])) ++clipped_count_;
  }
}

template <class Key>
float Tree::Median(const Key& key) {
  std::transform(clipped_, clipped_ + clipped_count_, keys_, key);
  float* middle = keys_ + clipped_count_ / 2;
  std::nth_element(keys_, middle, keys_ + clipped_count_);
  return *middle;
}

Tree::Cut Tree::Choose(const Part& part, double points_per_sample) {
  Cut best;
  if (clipped_count_ == 0) return best;
  const double before = part.Cost();
  best.cost = std::min(kGood * before, before - kSplitCost * part.length / points_per_sample);
  for (int axis = 0; axis < 3; ++axis) {
    const auto centre = [axis](const Bounds3d& b) {
      return 0.5f * b.low[axis] + 0.5f * b.high[axis];
    };
    Consider(part, axis, Median(centre), best);
  }
  if (best.cost <= kVeryGood * before) return best;
  for (int axis = 0; axis < 3; ++axis) {
    const auto low = [axis](const Bounds3d& b) { return b.low[axis]; };
    const auto high = [axis](const Bounds3d& b) { return b.high[axis]; };
    Consider(part, axis, Median(low), best);
    Consider(part, axis, std::nextafterf(Median(high), kMax), best);
  }
  return best.axis < 0 && part.tries > 0 ? Halve(part) : best;
}

Tree::Cut Tree::Halve(const Part& part) const {
  // What the boxes cover and, if there are any samples, these cover too.
  Bounds3d core = {{kMax, kMax, kMax}, {-kMax, -kMax, -kMax}};
  for (int64_t i = 0; i < clipped_count_; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      core.low[axis] = std::min(core.low[axis], clipped_[i].low[axis]);
      core.high[axis] = std::max(core.high[axis], clipped_[i].high[axis]);
    }
  }
  Cut best;
  double best_size = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    float low = kMax, high = -kMax;
    for (int32_t i = 0; i < part.samples; ++i) {
      const float at = samples_[part.first_sample + i].at[axis];
      low = std::min(low, at);
      high = std::max(high, at);
    }
    const double all = static_cast<double>(core.high[axis]) - core.low[axis];
    low = std::max(low, core.low[axis]);
    high = std::min(high, core.high[axis]);
    if (!(low <= high)) {
      low = core.low[axis];
      high = core.high[axis];
    }
    const double size = static_cast<double>(high) - low;
    if (axis == 2 && size > 0.5 * all) continue;  // boxes are upright
    float at = 0.5f * low + 0.5f * high;
    if (size <= 0.5 * all) {  // cuts off where no sample is
      at = low - core.low[axis] > core.high[axis] - high ? low : std::nextafterf(high, kMax);
    }
    const double rank = size <= 0.5 * all ? kMax + all : size;
    if (rank > best_size && at > part.region.low[axis] && at < part.region.high[axis]) {
      best_size = rank;
      best = {axis, at, 0.0};
    }
  }
  return best;
}

void Tree::Consider(const Part& part, int axis, float at, Cut& best) const {
  if (!(at > part.region.low[axis] && at < part.region.high[axis])) return;
  int64_t below = 0, above = 0;
  for (int64_t i = 0; i < clipped_count_; ++i) {
    below += clipped_[i].low[axis] < at ? 1 : 0;
    above += clipped_[i].high[axis] >= at ? 1 : 0;
  }
  double weight_below = 0.0;
  for (int32_t i = 0; i < part.samples; ++i) {
    const SamplePoint& sample = samples_[part.first_sample + i];
    weight_below += sample.at[axis] < at ? sample.share : 0.0f;
  }
  const double cost = static_cast<double>(below) * weight_below +
                      static_cast<double>(above) * (part.weight - weight_below);
  if (cost < best.cost) best = {axis, at, cost};
}

void Tree::Apply(const Part& part, const Cut& cut, const FlatBox* boxes) {
  const int axis = cut.axis;
  Part half[2] = {part, part};
  half[0].region.high[axis] = half[1].region.low[axis] = cut.at;
  SamplePoint* const samples = samples_ + part.first_sample;
  half[0].samples = static_cast<int32_t>(
      std::partition(samples, samples + part.samples,
                     [&](const SamplePoint& p) { return p.at[axis] < cut.at; }) -
      samples);
  half[1].first_sample += half[0].samples;
  half[1].samples -= half[0].samples;

  half[0].weight = 0.0;
  for (int32_t i = 0; i < half[0].samples; ++i) half[0].weight += samples[i].share;
  half[1].weight = part.weight - half[0].weight;

  for (int side = 0; side < 2; ++side) {
    half[side].length = 0;
    Bounds3d unused;
    for (int64_t i = 0; i < clipped_count_; ++i) {
      const Bounds3d& b = clipped_[i];
      const bool touches = side == 0 ? b.low[axis] < cut.at : b.high[axis] >= cut.at;
      const int32_t box = clipped_boxes_[i];
      if (touches && (axis == 2 || ClipTo(half[side].region, boxes[box], b, unused))) {
        halves_[side][half[side].length++] = box;
      }
    }
  }

  const Place whole = *part.place;
  *part.place = static_cast<Place>(-2 - node_count_);
  Node& node = nodes_[node_count_++];
  node = {cut.at, axis, {kNoBoxes, kNoBoxes}};
  // The longer half takes the place of the whole, unless another part has the same list.
  const int longer = half[0].length >= half[1].length ? 0 : 1;
  for (int side : {longer, 1 - longer}) {
    Part& h = half[side];
    h.place = &node.half[side];
    h.owned = true;
    if (h.length == part.length) {
      node.half[side] = whole;  // no copy
      h.owned = part.owned && half[1 - side].length < part.length;
    } else if (h.length > 0) {
      const bool in_place = side == longer && part.owned;
      node.half[side] = in_place ? whole : static_cast<Place>(used_);
      if (!in_place) used_ += h.length;
      int32_t* const list = lists_ + node.half[side];
      std::copy_n(halves_[side], h.length, list);
      list[h.length - 1] = ~list[h.length - 1];
    }
    const bool shorter = h.length <= part.length - part.length / 8;
    if (shorter) {
      h.tries = kTries;
    } else if (half[1 - side].length > 0) {
      --h.tries;
    }
    Push(h);
  }
}

}  // namespace detops::ops::points_in_boxes
