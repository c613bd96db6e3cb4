// SPDX-License-Identifier: Apache-2.0
//
// Whether boxes suppress others, for batches of pairs. Each of these decides what it can prove:
//   areas and bounds;
//   upright rectangles: their sides, in pairs of floats, and exactly where these are whole enough;
//   others: the shared area, in floats, and where that leaves a doubt in pairs of floats;
//   math::QuadIoUGreater, which is the definition, pair by pair.
// For kernels only.
#pragma once

#include "math/quad.h"
#include "mlu/rows.h"
#include "mlu/team.h"
#include "ops/poly_nms/mlu_clip.h"
#include "ops/poly_nms/mlu_record.h"
#include "ops/poly_nms/mlu_upright.h"

namespace detops::ops::poly_nms_mlu {

class QuadJudge {
 public:
  struct Parameters {
    const float* boxes;         // [count,9] the input
    const QuadRecord* records;  // [count]
    int64_t count;
    float threshold;
  };
  static constexpr int kBatch = 512;

  __mlu_func__ QuadJudge(mlu::Nram nram, const Parameters& parameters) : p_(parameters) {
    a_ = nram.Array<float>(QuadRecord::kFields * kBatch);
    b_ = nram.Array<float>(QuadRecord::kFields * kBatch);
    columns_ = nram.Array<float>(kColumns * kBatch);
    scale_x_ = nram.Array<float>(kBatch);
    scale_y_ = nram.Array<float>(kBatch);
    extent_ = nram.Array<float>(kBatch);
    for (float*& mask : mask_) mask = nram.Array<float>(kBatch);
    numbers_ = nram.Array<int32_t>(kBatch);
    suppressed_.numbers = nram.Array<int32_t>(2 * kBatch);
    doubtful_.numbers = nram.Array<int32_t>(2 * kBatch);
    corners_ = nram.Array<float>(16);
    memory_ = nram.Array<float>(kArenaFloats);
    __bang_incseq(numbers_, kBatch);
  }

  // Pairs of a batch, by their numbers.
  struct List {
    int32_t* numbers;
    int count;
  };

  // Whether the first of each pair of boxes, given by their indices, suppresses the second. The
  // first attempt is in floats, the second in pairs of floats.
  static constexpr int kAttempts = 2;
  __mlu_func__ void Judge(int attempt, const int32_t* ahead, const int32_t* behind, int count) {
    count_ = count;
    suppressed_.count = doubtful_.count = 0;
    Load(a_, ahead);
    Load(b_, behind);
    DecideBySize();
    if (Take(mask_[kUpright]) > 0) {
      Arena arena(memory_, kArenaFloats);
      CompareUpright(arena, columns_, kBatch, columns_ + kExtent * kBatch, taken_, p_.threshold,
                     mask_[kYes], mask_[kDoubt]);
      ListDecided();
    }
    if (attempt == 0) {
      if (Take(mask_[kConvex]) > 0) DecideByClipping<FloatMath, true>(kAtOnce);
      if (Take(mask_[kOther]) > 0) DecideByClipping<FloatMath, false>(kTrianglesAtOnce);
    } else {
      if (Take(mask_[kConvex]) > 0) DecideByClipping<WideMath, true>(kWideAtOnce);
      if (Take(mask_[kOther]) > 0) DecideByClipping<WideMath, false>(kWideTrianglesAtOnce);
    }
  }
  __mlu_func__ const List& Suppressed() const { return suppressed_; }
  __mlu_func__ const List& Doubtful() const { return doubtful_; }

  // By the definition.
  __mlu_func__ bool Measure(int32_t ahead, int32_t behind) {
    __memcpy(corners_, p_.boxes + int64_t{ahead} * 9, 8 * sizeof(float), GDRAM2NRAM);
    __memcpy(corners_ + 8, p_.boxes + int64_t{behind} * 9, 8 * sizeof(float), GDRAM2NRAM);
    float a[8], b[8];
    for (int i = 0; i < 8; ++i) {
      a[i] = corners_[i];
      b[i] = corners_[8 + i];
    }
    return math::QuadIoUGreater(a, b, p_.threshold);
  }

 private:
  // Of pairs that are being judged: scaled corners, x and y of a, then of b; the area of the common
  // bounds; kinds; and the number of the pair.
  enum Column { kCorners = 0, kExtent = 16, kKindA, kKindB, kNumber, kColumns };
  enum Mask { kUpright, kConvex, kOther, kYes, kDoubt, kMasks };
  static constexpr int kArenaFloats = 56 * 1024;
  // Pairs that are clipped at once: as many as their vectors have room for.
  static constexpr int kAtOnce = 256, kTrianglesAtOnce = 64;
  static constexpr int kWideAtOnce = 16, kWideTrianglesAtOnce = 6;

  __mlu_func__ void Load(float* columns, const int32_t* index) {
    QuadRecord* const rows = reinterpret_cast<QuadRecord*>(memory_);
    int32_t* const scratch = reinterpret_cast<int32_t*>(columns_);
    mlu::GatherRows(rows, p_.records, index, count_, p_.count, scratch, scratch + kBatch);
    __bang_transpose(columns, memory_, count_, QuadRecord::kFields);
  }

  static __mlu_func__ void Move(float* to, Vec from) {
    __bang_move(to, from.data, from.count * sizeof(float));
  }
  // Adds the numbers of marked pairs to a list.
  static __mlu_func__ void Add(const float* mask, const int32_t* numbers, int count, List& list) {
    list.count += __bang_filter(reinterpret_cast<float*>(list.numbers + list.count),
                                reinterpret_cast<const float*>(numbers), mask, count);
  }

  // What areas and bounds decide; and masks of who is to judge the others.
  __mlu_func__ void DecideBySize() {
    using R = QuadRecord;
    Arena arena(memory_, kArenaFloats);
    const auto a = [&](int f) { return Vec{&arena, a_ + f * count_, count_}; };
    const auto b = [&](int f) { return Vec{&arena, b_ + f * count_, count_}; };
    const float t = p_.threshold;
    const Vec least_kind = Min(a(R::kKind), b(R::kKind));
    const Vec certain = least_kind > R::kNone;
    const Vec open = arena.New(count_);
    {
      const Scope scope(&arena);
      const Vec x1 = Min(a(R::kX1), b(R::kX1)), x2 = Max(a(R::kX2), b(R::kX2));
      const Vec y1 = Min(a(R::kY1), b(R::kY1)), y2 = Max(a(R::kY2), b(R::kY2));
      const Vec fits = mlu::Filled(&arena, count_, 1.0f);
      const Vec scale_x = ScaleOf(x1, x2, fits), scale_y = ScaleOf(y1, y2, fits);
      FloatMath::Set(certain, certain & fits);
      const auto area = [&](Vec left, Vec low, Vec right, Vec high) {
        return ScaledDifference(right, left, scale_x) * ScaledDifference(high, low, scale_y);
      };
      Move(scale_x_, scale_x);
      Move(scale_y_, scale_y);
      Move(extent_, area(x1, y1, x2, y2));
      // An outline has no less area than its signed area, and no more than its two triangles; the
      // shared area is no more than either, and in the common part of the bounds. Triangles of an
      // outline that intersects itself may count that twice.
      const Vec bounds_a = area(a(R::kX1), a(R::kY1), a(R::kX2), a(R::kY2));
      const Vec bounds_b = area(b(R::kX1), b(R::kY1), b(R::kX2), b(R::kY2));
      const auto shared = [&](int low, int high, Vec scale) {
        return Max(ScaledDifference(Min(a(high), b(high)), Max(a(low), b(low)), scale), 0.0f);
      };
      Vec common = shared(R::kX1, R::kX2, scale_x) * shared(R::kY1, R::kY2, scale_y);
      common = Select(least_kind < R::kSplit, common * 4.0f, common);
      const Vec most =
          Min(Min(bounds_a * a(R::kMost), bounds_b * b(R::kMost)), common) * (1.0f + t);
      // Less than a tenth of what counts as a tie; or too little by more than rounding errors.
      Vec never = most < 1e-25f;
      if (t > math::kLeastThreshold) {
        const Vec both = bounds_a * a(R::kLeast) + bounds_b * b(R::kLeast);
        never = never | ((most < (both * (0.9999f * t))) & (both > 1e-30f));
      }
      FloatMath::Set(open, Not(never & fits));
    }
    Vec same = open & certain;
    for (int f = 0; f < 8; ++f) same = same & (a(f) == b(f));
    same = same & (a(R::kKind) == b(R::kKind));
    Add(same.data, numbers_, count_, suppressed_);
    const Vec left = open & Not(same);
    Add((left & Not(certain)).data, numbers_, count_, doubtful_);
    const Vec certainly = left & certain;
    const Vec upright = least_kind > R::kConvex, convex = least_kind > R::kSplit;
    Move(mask_[kUpright], certainly & upright);
    Move(mask_[kConvex], certainly & (convex & Not(upright)));
    Move(mask_[kOther], certainly & Not(convex));
  }

  __mlu_func__ float* ColumnAt(int i) const { return columns_ + i * kBatch; }

  // Packs the pairs that the mask marks into columns. Returns how many.
  __mlu_func__ int Take(const float* mask) {
    using R = QuadRecord;
    taken_ = __bang_filter(ColumnAt(kNumber), reinterpret_cast<float*>(numbers_), mask, count_);
    if (taken_ == 0) return 0;
    for (int f = 0; f < 8; ++f) {
      __bang_collect(ColumnAt(f), a_ + f * count_, mask, count_);
      __bang_collect(ColumnAt(8 + f), b_ + f * count_, mask, count_);
    }
    float* const scale = mask_[kYes];
    __bang_collect(scale, scale_x_, mask, count_);
    for (int f = 0; f < 4; ++f) {
      Scale(ColumnAt(f), scale);
      Scale(ColumnAt(8 + f), scale);
    }
    __bang_collect(scale, scale_y_, mask, count_);
    for (int f = 4; f < 8; ++f) {
      Scale(ColumnAt(f), scale);
      Scale(ColumnAt(8 + f), scale);
    }
    __bang_collect(ColumnAt(kExtent), extent_, mask, count_);
    __bang_collect(ColumnAt(kKindA), a_ + R::kKind * count_, mask, count_);
    __bang_collect(ColumnAt(kKindB), b_ + R::kKind * count_, mask, count_);
    return taken_;
  }

  __mlu_func__ void Scale(float* column, const float* scale) const {
    __bang_mul(column, column, scale, taken_);
    __bang_mul_scalar(column, column, 0.25f, taken_);
  }

  // Of the pairs taken: those that suppress, and those that are doubtful.
  __mlu_func__ void ListDecided() {
    const int32_t* const numbers = reinterpret_cast<int32_t*>(ColumnAt(kNumber));
    Add(mask_[kYes], numbers, taken_, suppressed_);
    Add(mask_[kDoubt], numbers, taken_, doubtful_);
  }

  // Pairs that were taken, at most so many at once.
  template <class Math, bool kAreConvex>
  __mlu_func__ void DecideByClipping(int most) {
    const int parts = (taken_ + most - 1) / most, at_once = (taken_ + parts - 1) / parts;
    for (int begin = 0; begin < taken_; begin += at_once) {
      const int count = taken_ - begin < at_once ? taken_ - begin : at_once;
      Arena arena(memory_, kArenaFloats);
      const QuadColumns columns = {&arena, columns_ + begin, kBatch, count};
      const Vec extent = {&arena, ColumnAt(kExtent) + begin, count};
      if (kAreConvex) {
        const auto sums = ClipConvex<Math>(columns);
        Decide<Math>(sums, extent, begin, 8.0f);
      } else {
        const Vec kind_a = {&arena, ColumnAt(kKindA) + begin, count};
        const Vec kind_b = {&arena, ColumnAt(kKindB) + begin, count};
        const auto sums = ClipTriangles<Math>(columns, kind_a == QuadRecord::kCrossed,
                                              kind_b == QuadRecord::kCrossed);
        Decide<Math>(sums, extent, begin, 24.0f);
      }
    }
    ListDecided();
  }

  // The sign of shared * (1 + t) - both * t, where the errors leave no doubt about it. `edges` is
  // how many edges there are, whose corners have errors.
  template <class Math>
  __mlu_func__ void Decide(const ClipSums<typename Math::Real>& sums, Vec extent, int begin,
                           float edges) {
    const float t = p_.threshold;
    const auto excess = sums.shared + (sums.shared - sums.both) * t;
    const Vec leading = Math::Leading(excess);
    const Vec side = extent * Math::kSideError;
    const Vec error =
        ((sums.spread * side) * 2.05f + (side * edges + sums.size * Math::kPartError)) * (1.0f + t);
    const Vec near = Not(sums.nearest > side);
    const Vec doubtful = near | Not(Abs(leading) > error);
    Move(mask_[kYes] + begin, (leading > 0.0f) & Not(doubtful));
    Move(mask_[kDoubt] + begin, doubtful);
  }

  const Parameters p_;
  float *a_, *b_;   // [kFields, count] records
  float* columns_;  // [kColumns, kBatch]
  float *scale_x_, *scale_y_, *extent_;
  float* mask_[kMasks];
  int32_t* numbers_;
  List suppressed_, doubtful_;
  float* corners_;
  float* memory_;  // [kArenaFloats]
  int count_ = 0, taken_ = 0;
};

}  // namespace detops::ops::poly_nms_mlu
