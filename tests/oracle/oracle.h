// SPDX-License-Identifier: Apache-2.0
//
// The oracle: an independent exact implementation of the operators, which tests compare results
// with. It shares neither code nor methods with the library: float steps are emulated in double,
// geometry is decided in exact integers, and elementary functions come from MPFR. Inputs are
// assumed to be valid (shapes and scalars are not checked).

#ifndef DETOPS_TESTS_ORACLE_ORACLE_H_
#define DETOPS_TESTS_ORACLE_ORACLE_H_

#include <cstdint>
#include <span>
#include <vector>

namespace detops::oracle {

// ---- bbox_overlaps ----

// The exact bits. `b1` is [M,4], `b2` is [N,4]; mode 0 is IoU, 1 is IoF; the result is [M,N], or
// [M] when aligned. A NaN that arises on the way (inf - inf) is propagated by min and max.
std::vector<float> BboxOverlaps(std::span<const float> b1, std::span<const float> b2, int mode,
                                bool aligned, int offset);

// The same formula in long double, rounded to double once at the end.
std::vector<double> BboxOverlapsWide(std::span<const float> b1, std::span<const float> b2, int mode,
                                     bool aligned, int offset);

// ---- poly_nms ----
// Quadrilaterals are x1,y1,...,x4,y4 in either orientation, convex or concave. Zero area or a
// non-finite coordinate means that the intersection and the IoU are 0. For self-intersecting ones
// the results are meaningless.

// Whether IoU > threshold, decided without any rounding.
bool QuadIouGreater(std::span<const float, 8> a, std::span<const float, 8> b, float threshold);

// The exact values, rounded once to the nearest double.
double QuadIou(std::span<const float, 8> a, std::span<const float, 8> b);
double QuadIntersectionArea(std::span<const float, 8> a, std::span<const float, 8> b);

// The intersection area as GEOS computes it in double; NaN if GEOS reports an error.
double QuadIntersectionAreaGeos(std::span<const float, 8> a, std::span<const float, 8> b);

// Whether the outline neither crosses nor touches itself, decided exactly. False for zero area and
// for non-finite coordinates.
bool QuadIsSimple(std::span<const float, 8> quad);

// Whether all corners lie on one line, decided exactly: an outline without area. One that crosses
// itself may have a signed area of 0 and yet enclose something. False for non-finite coordinates.
bool QuadIsOnALine(std::span<const float, 8> quad);

// Kept indices, ascending; `boxes` is [N,9].
std::vector<int32_t> PolyNms(std::span<const float> boxes, float threshold);

// ---- border_align ----

struct BorderAlignResult {
  std::vector<float> output;
  std::vector<int32_t> argmax;
};

// The exact bits. NHWC: [N,H,W,4C] to [N,K,4,C]; `nchw`: [N,4C,H,W] to [N,C,K,4]. Boxes are
// [N,K,4].
BorderAlignResult BorderAlign(std::span<const float> input, std::span<const float> boxes, int64_t n,
                              int64_t h, int64_t w, int64_t c, int64_t k, int pool_size, bool nchw);

// The output with the same sample positions, but interpolated and compared in long double.
std::vector<double> BorderAlignWide(std::span<const float> input, std::span<const float> boxes,
                                    int64_t n, int64_t h, int64_t w, int64_t c, int64_t k,
                                    int pool_size, bool nchw);

// ---- generate_proposals ----

struct Proposals {
  std::vector<float> rois;  // 4 each, packed over the images
  std::vector<float> probs;
  std::vector<int32_t> num;  // one per image
  // True when changing some exp by one ulp could change which boxes are kept. Where it is false,
  // `probs` and `num` must be equal, and `rois` may differ only by the effect of an ulp of exp.
  bool near_decision = false;
};

Proposals GenerateProposals(std::span<const float> scores, std::span<const float> deltas,
                            std::span<const float> im_shape, std::span<const float> anchors,
                            std::span<const float> variances, int64_t n, int64_t h, int64_t w,
                            int64_t a, int pre, int post, float nms_thresh, float min_size,
                            bool pixel_offset);

// ---- points_in_boxes ----

// The exact answer. `points` is [B,M,3], `boxes` is [B,T,7]; the result is [B,M].
std::vector<int32_t> PointsInBoxes(std::span<const float> points, std::span<const float> boxes,
                                   int64_t b, int64_t m, int64_t t);

// ---- math ----

// Correctly rounded to float, at any magnitude of the argument.
float ExpRounded(float x);
float SinRounded(float x);
float CosRounded(float x);

// Correctly rounded to long double, for measuring errors in ulp of float.
long double ExpWide(float x);
long double SinWide(float x);
long double CosWide(float x);

// IEEE binary16 codes, round to nearest even. Every NaN becomes the code 0x7e00.
uint16_t FloatToHalf(float x);
float HalfToFloat(uint16_t code);

// |got - exact| in units of the last place of the float nearest to `exact`. 0 if both are NaN or
// both are the same infinity (an `exact` that rounds to infinity counts as one); infinity if only
// one of them is special.
double UlpError(float got, long double exact);

// ---- accuracy ----

struct Diffs {
  double diff1;  // sum|a-b| / sum|b|
  double diff2;  // sqrt(sum(a-b)^2 / sum b^2)
  double diff3;  // max |a-b|/|b|, or |a-b| where |b| < tiny
  // Whether NaN and infinities (with their sign) are at the same positions. They are excluded from
  // the above.
  bool special_match;
};

// With a zero denominator, diff1 and diff2 are 0 if the numerator is 0 too, else infinity.
// Sequences of different lengths give infinite differences and no match.
Diffs Compare(std::span<const float> got, std::span<const double> expected, double tiny);

}  // namespace detops::oracle

#endif  // DETOPS_TESTS_ORACLE_ORACLE_H_
