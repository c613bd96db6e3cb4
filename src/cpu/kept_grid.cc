// SPDX-License-Identifier: Apache-2.0
#include "cpu/kept_grid.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace detops::cpu {
namespace {

double Centre(float low, float high) { return 0.5 * (static_cast<double>(low) + high); }

constexpr double kInf = std::numeric_limits<double>::infinity();

int64_t BucketsFor(int64_t boxes) {
  const int64_t wanted = std::clamp<int64_t>(2 * boxes, 64, int64_t{1} << 31);
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(wanted)));
}

}  // namespace

KeptGrid::KeptGrid(core::WorkspaceLayout& layout, int64_t capacity) {
  bucket_capacity_ = BucketsFor(capacity);
  buckets_ = layout.Array<Bucket>(bucket_capacity_);
  slots_ = layout.Array<Slot>(capacity);
  bucket_of_ = layout.Array<uint32_t>(capacity);
  level_of_ = layout.Array<uint8_t>(capacity);
  next_ = layout.Array<int32_t>(capacity);
  levels_ = layout.Array<Level>(kMaxLevels);
}

// The smallest power of 4 that is at least the longer side; float's exponents give levels 0 to 140.
int KeptGrid::LevelOf(const Bounds& b) {
  const double side = std::max(static_cast<double>(b.x2) - b.x1, static_cast<double>(b.y2) - b.y1);
  if (!std::isfinite(side)) return kHuge;
  const int exponent = std::ilogb(side) + 1;  // side < 2^exponent
  return (exponent + 151) / 2;
}

uint32_t KeptGrid::BucketOf(int level, const Bounds& b) const {
  if (level == kHuge) return 0;  // found through its list
  const double per_side = levels_[level].per_side;
  return BucketOf(level, static_cast<int64_t>(std::floor(Centre(b.x1, b.x2) * per_side)),
                  static_cast<int64_t>(std::floor(Centre(b.y1, b.y2) * per_side)));
}

void KeptGrid::Reserve(const Bounds* boxes, int64_t count) {
  boxes_ = boxes;
  used_level_count_ = 0;
  for (int i = 0; i < kMaxLevels; ++i) {
    levels_[i] = {std::ldexp(1.0, 150 - 2 * i), kInf, -kInf, kInf, -kInf, 0, -1};
  }
  // Few boxes need few buckets: clearing them is part of every call.
  const int64_t buckets = std::min(bucket_capacity_, BucketsFor(count));
  bucket_mask_ = static_cast<uint32_t>(buckets - 1);
  std::fill_n(buckets_, buckets, Bucket{0, 0});

  bool used[kMaxLevels] = {};
  for (int64_t i = 0; i < count; ++i) {
    const Bounds& b = boxes[i];
    if (b.x1 > b.x2) continue;
    const int level = LevelOf(b);
    Level& l = levels_[level];
    used[level] = true;
    level_of_[i] = static_cast<uint8_t>(level);
    if (level != kHuge) {
      const double x = std::floor(Centre(b.x1, b.x2) * l.per_side);
      const double y = std::floor(Centre(b.y1, b.y2) * l.per_side);
      l.x_low = std::min(l.x_low, x);
      l.x_high = std::max(l.x_high, x);
      l.y_low = std::min(l.y_low, y);
      l.y_high = std::max(l.y_high, y);
    }
    bucket_of_[i] = BucketOf(level, b);
    ++buckets_[bucket_of_[i]].count;
  }
  uint32_t begin = 0;
  for (int64_t i = 0; i < buckets; ++i) {
    buckets_[i].begin = begin;
    begin += buckets_[i].count;
    buckets_[i].count = 0;
  }
  for (int i = 0; i < kMaxLevels; ++i) {
    if (used[i]) used_levels_[used_level_count_++] = i;
  }
}

void KeptGrid::Insert(int64_t box) {
  Level& level = levels_[level_of_[box]];
  Bucket& bucket = buckets_[bucket_of_[box]];
  slots_[bucket.begin + bucket.count++] = {boxes_[box], static_cast<int32_t>(box)};
  next_[box] = level.newest;
  level.newest = static_cast<int32_t>(box);
  ++level.inserted;
}

}  // namespace detops::cpu
