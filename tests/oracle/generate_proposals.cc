// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "internal.h"
#include "oracle.h"

namespace detops::oracle {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kMaxExponent = 4.1351666f;

// A float result together with bounds of what it can be when every exp has an error of up to one
// ulp. Correctly rounded operations are monotonic, so computing on the bounds gives bounds.
struct Range {
  Rounded low, mid, high;

  Range() = default;
  Range(float x) : low(x), mid(x), high(x) {}  // NOLINT(google-explicit-constructor)
  Range(Rounded l, Rounded m, Rounded h) : low(l), mid(m), high(h) {}
};

Range operator+(Range a, Range b) { return {a.low + b.low, a.mid + b.mid, a.high + b.high}; }
Range operator-(Range a, Range b) { return {a.low - b.high, a.mid - b.mid, a.high - b.low}; }

Range operator*(Range a, Range b) {
  const Rounded products[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  const auto nans = std::ranges::count_if(products, [](Rounded p) { return p.IsNan(); });
  const Rounded mid = a.mid * b.mid;
  if (nans == 4) return {products[0], mid, products[0]};
  if (nans > 0) return {-kInfinity, mid, kInfinity};
  const auto [low, high] = std::minmax_element(std::begin(products), std::end(products));
  return {*low, mid, *high};
}

// Only for a >= 0 and b > 0.
Range DividePositive(Range a, Range b) { return {a.low / b.high, a.mid / b.mid, a.high / b.low}; }

// Returns b unless a is smaller; MaxZero returns +0 for -0. Inputs are not NaN here.
Rounded Min(Rounded a, Rounded b) { return a < b ? a : b; }
Rounded MaxZero(Rounded a) { return a > Rounded(0.0f) ? a : Rounded(0.0f); }
Range Min(Range a, Range b) { return {Min(a.low, b.low), Min(a.mid, b.mid), Min(a.high, b.high)}; }
Range Max(Range a, Range b) {
  const auto max = [](Rounded x, Rounded y) { return x > y ? x : y; };
  return {max(a.low, b.low), max(a.mid, b.mid), max(a.high, b.high)};
}
Range MaxZero(Range a) { return {MaxZero(a.low), MaxZero(a.mid), MaxZero(a.high)}; }

// An exp with an error below one ulp returns the correctly rounded value or one of its neighbours.
// exp(0) is 1 in any reasonable implementation, and taking it as exact keeps ties testable.
Range Exp(Rounded x) {
  const float exact = ExpRounded(x.Float());
  if (x.Float() == 0 || std::isnan(exact)) return exact;
  return {std::nextafter(exact, 0.0f), exact, std::nextafter(exact, kInfinity)};
}

// Evaluates a yes-no question on the bounds and the value, and records whether they disagree.
template <typename Question>
bool Decide(Range x, bool* near, Question question) {
  const bool answer = question(x.mid);
  if (question(x.low) != answer || question(x.high) != answer) *near = true;
  return answer;
}

struct Box {
  Range low[2], high[2];  // of x and y
  Range size[2];
  Range area;
  float score = 0;
};

struct Settings {
  float off;
  float min_size;
  float nms_thresh;
  int64_t post;
};

// One axis of the decoding. `anchor`, `delta` and `variance` point at the component of this axis;
// the partner (other corner, log size) follows two elements later. False if the result is NaN.
bool DecodeAxis(const float* anchor, const float* delta, const float* variance, float side,
                float off_value, bool* near, Range* low, Range* high) {
  const Rounded off = off_value;
  const Rounded half = 0.5f;
  const Rounded size = (Rounded(anchor[2]) - anchor[0]) + off;
  const Rounded center = Rounded(anchor[0]) + half * size;
  const Rounded moved = center + Rounded(delta[0]) * size * Rounded(variance[0]);
  const Rounded power = Rounded(delta[2]) * Rounded(variance[2]);
  // A NaN power must stay NaN, so that the proposal is dropped.
  const Rounded bounded = power.IsNan() ? power : Min(power, Rounded(kMaxExponent));
  const Range reach = Exp(bounded) * Range(size.Float()) * Range(0.5f);
  *low = Range(moved.Float()) - reach;
  *high = (Range(moved.Float()) + reach) - Range(off_value);
  const auto is_nan = [](Rounded x) { return x.IsNan(); };
  const bool low_nan = Decide(*low, near, is_nan);
  const bool high_nan = Decide(*high, near, is_nan);
  if (low_nan || high_nan) return false;
  if (!std::isnan(side)) {
    const Range limit = (Rounded(side) - off).Float();
    *low = Min(*low, limit);
    *high = Min(*high, limit);
  }
  // Clipping that depends on an ulp changes the value by an ulp. It is not a decision.
  *low = MaxZero(*low);
  *high = MaxZero(*high);
  return true;
}

// nullopt when the proposal is dropped. `shape` is height, width.
std::optional<Box> MakeBox(const float* anchor, const float* delta, const float* variance,
                           const float* shape, float score, const Settings& settings, bool* near) {
  Box box;
  box.score = score;
  const Range off = settings.off;
  const Rounded floor = std::max(settings.min_size, 1.0f);
  for (int axis = 0; axis < 2; ++axis) {
    const float side = shape[1 - axis];
    if (!DecodeAxis(anchor + axis, delta + axis, variance + axis, side, settings.off, near,
                    &box.low[axis], &box.high[axis])) {
      return std::nullopt;
    }
    box.size[axis] = (box.high[axis] - box.low[axis]) + off;
    if (!Decide(box.size[axis], near, [&](Rounded size) { return size >= floor; })) {
      return std::nullopt;
    }
    const Range center = box.low[axis] + Range(0.5f) * box.size[axis];
    if (settings.off != 0 && Decide(center, near, [&](Rounded c) { return c > Rounded(side); })) {
      return std::nullopt;
    }
  }
  box.area = box.size[0] * box.size[1];
  return box;
}

// An IoU of zero for boxes that are certainly disjoint, without the arithmetic.
Range Iou(const Box& a, const Box& b, float off) {
  Range inter = 1.0f;
  for (int axis = 0; axis < 2; ++axis) {
    const Range overlap =
        (Min(a.high[axis], b.high[axis]) - Max(a.low[axis], b.low[axis])) + Range(off);
    if (overlap.high <= Rounded(0.0f)) return 0.0f;
    inter = inter * MaxZero(overlap);
  }
  return DividePositive(inter, (a.area + b.area) - inter);
}

// Boxes are in score order. A box is in doubt only if no IoU that is certainly greater suppresses
// it.
std::vector<Box> Nms(const std::vector<Box>& boxes, const Settings& settings, bool* near) {
  const Rounded threshold = settings.nms_thresh;
  std::vector<Box> kept;
  for (const Box& box : boxes) {
    if (static_cast<int64_t>(kept.size()) == settings.post) break;
    bool surely = false, suppressed = false, possibly = false;
    for (size_t i = 0; i < kept.size() && !surely; ++i) {
      const Range iou = Iou(kept[i], box, settings.off);
      const bool votes[] = {iou.low > threshold, iou.mid > threshold, iou.high > threshold};
      surely = votes[0] && votes[1] && votes[2];
      suppressed = suppressed || votes[1];
      possibly = possibly || votes[0] || votes[2];
    }
    if (possibly && !surely) *near = true;
    if (!suppressed) kept.push_back(box);
  }
  return kept;
}

}  // namespace

Proposals GenerateProposals(std::span<const float> scores, std::span<const float> deltas,
                            std::span<const float> im_shape, std::span<const float> anchors,
                            std::span<const float> variances, int64_t n, int64_t h, int64_t w,
                            int64_t a, int pre, int post, float nms_thresh, float min_size,
                            bool pixel_offset) {
  const int64_t count = h * w * a;
  const Settings settings = {pixel_offset ? 1.0f : 0.0f, min_size, nms_thresh, post};
  Proposals result;
  for (int64_t image = 0; image < n; ++image) {
    const auto image_scores = scores.subspan(image * count, count);
    std::vector<int64_t> order = OrderByScore(image_scores);
    if (pre > 0 && pre < count) order.resize(pre);
    std::vector<Box> boxes;
    for (int64_t i : order) {
      const std::optional<Box> box =
          MakeBox(&anchors[4 * i], &deltas[4 * (image * count + i)], &variances[4 * i],
                  &im_shape[2 * image], image_scores[i], settings, &result.near_decision);
      if (box) boxes.push_back(*box);
    }
    std::vector<Box> kept = Nms(boxes, settings, &result.near_decision);
    // If no proposal is left, the result is one empty box, unless there is no room for any.
    if (boxes.empty() && post > 0) kept.emplace_back();
    result.num.push_back(static_cast<int32_t>(kept.size()));
    for (const Box& box : kept) {
      for (const Range& corner : {box.low[0], box.low[1], box.high[0], box.high[1]}) {
        result.rois.push_back(corner.mid.Float());
      }
      result.probs.push_back(box.score);
    }
  }
  return result;
}

}  // namespace detops::oracle
