// SPDX-License-Identifier: Apache-2.0
//
// Exact geometry of quadrilaterals. A common power of two scales coordinates to integers, and areas
// are ratios of integers. No polygon is clipped. Up to a sign that depends on the orientation, the
// indicator of a polygon is the sum over its edges of +-[y is below the edge], the sign being the
// direction of the edge along x. The product of two such sums has terms [y is below both edges], so
// the area of the intersection is a signed sum, over the 16 pairs of edges, of the integral of the
// lower edge of the pair. (The integral may start at any base line: the signs of the edges of a
// closed outline cancel at every x.)

#include <gmpxx.h>
#include <mpfr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "internal.h"
#include "oracle.h"

namespace detops::oracle {
namespace {

struct Point {
  mpz_class x, y;
};

using Quad = std::array<Point, 4>;

bool IsFinite(std::span<const float, 8> quad) {
  return std::ranges::all_of(quad, [](float v) { return std::isfinite(v); });
}

// The exponent of a power of two that all the (finite) values are multiples of.
int GridExponent(std::span<const float> values) {
  int lowest = std::numeric_limits<int>::max();
  for (float value : values) {
    int exponent;
    if (std::frexp(value, &exponent) != 0) lowest = std::min(lowest, exponent - 24);
  }
  return lowest == std::numeric_limits<int>::max() ? 0 : lowest;
}

mpz_class OnGrid(float value, int grid) {
  int exponent;
  const float fraction = std::frexp(value, &exponent);
  if (fraction == 0) return 0;
  const mpz_class mantissa = static_cast<long>(std::ldexp(fraction, 24));
  return mantissa << static_cast<unsigned>(exponent - 24 - grid);
}

// Exact, so the translation changes no area. It only keeps the products short.
Quad ToIntegers(std::span<const float, 8> quad, int grid, const Point& origin) {
  Quad out;
  for (int i = 0; i < 4; ++i) {
    out[i] = {OnGrid(quad[2 * i], grid) - origin.x, OnGrid(quad[2 * i + 1], grid) - origin.y};
  }
  return out;
}

// Twice the signed area of the triangle.
mpz_class Cross(const Point& a, const Point& b, const Point& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Twice the signed area.
mpz_class DoubleArea(const Quad& quad) {
  return Cross(quad[0], quad[1], quad[2]) + Cross(quad[0], quad[2], quad[3]);
}

// An unreduced ratio. Without gcds a sum of a few terms is an order of magnitude faster.
struct Fraction {
  mpz_class num = 0, den = 1;

  void Add(const mpz_class& n, const mpz_class& d) {
    num = num * d + n * den;
    den *= d;
  }
};

struct Edge {
  Point left, right;
  mpz_class run;  // right.x - left.x > 0
  int sign;       // +1 if the outline goes from left to right

  // The height at x, as a numerator over `run`.
  mpz_class HeightAt(const mpz_class& x) const {
    return left.y * run + (right.y - left.y) * (x - left.x);
  }
};

// Vertical edges have no region below them.
std::vector<Edge> Edges(const Quad& quad) {
  std::vector<Edge> edges;
  for (int i = 0; i < 4; ++i) {
    const Point& from = quad[i];
    const Point& to = quad[(i + 1) % 4];
    if (from.x < to.x) edges.push_back({from, to, to.x - from.x, 1});
    if (from.x > to.x) edges.push_back({to, from, from.x - to.x, -1});
  }
  return edges;
}

// Twice the area of the intersection.
Fraction DoubleIntersection(const Quad& a, const Quad& b) {
  const std::vector<Edge> a_edges = Edges(a), b_edges = Edges(b);
  // Integrals of whole trapezoids, as numerators over the run of their edge.
  std::array<mpz_class, 4> below_a, below_b;
  Fraction sum;
  for (size_t i = 0; i < a_edges.size(); ++i) {
    for (size_t j = 0; j < b_edges.size(); ++j) {
      const Edge &e = a_edges[i], &f = b_edges[j];
      const mpz_class& begin = std::max(e.left.x, f.left.x);
      const mpz_class& end = std::min(e.right.x, f.right.x);
      if (begin >= end) continue;
      const mpz_class width = (end - begin) * (e.sign * f.sign);
      const mpz_class e_begin = e.HeightAt(begin), e_end = e.HeightAt(end);
      const mpz_class f_begin = f.HeightAt(begin), f_end = f.HeightAt(end);
      // Height of e over f at both ends, as numerators over the product of the runs.
      const mpz_class gap_begin = e_begin * f.run - f_begin * e.run;
      const mpz_class gap_end = e_end * f.run - f_end * e.run;
      if (gap_begin <= 0 && gap_end <= 0) {
        below_a[i] += width * (e_begin + e_end);
        continue;
      }
      below_b[j] += width * (f_begin + f_end);
      if (gap_begin < 0 || gap_end < 0) {
        // The edges cross. Where the gap is negative, e is lower by a triangle: its height is that
        // gap and its share of the width is gap / change.
        const mpz_class& gap = std::min(gap_begin, gap_end);
        const mpz_class change = abs(gap_end - gap_begin);
        sum.Add(-width * gap * gap, e.run * f.run * change);
      }
    }
  }
  for (size_t i = 0; i < a_edges.size(); ++i) sum.Add(below_a[i], a_edges[i].run);
  for (size_t j = 0; j < b_edges.size(); ++j) sum.Add(below_b[j], b_edges[j].run);
  sum.num *= sgn(DoubleArea(a)) * sgn(DoubleArea(b));
  return sum;
}

// Everything that is needed to decide about a pair, in units of the grid.
struct Overlap {
  int grid;
  Fraction inter;      // twice the intersection
  mpz_class area_sum;  // twice the sum of the two areas
};

// An empty intersection with a nonempty area sum for the pairs that have an IoU of 0 by definition.
Overlap MakeOverlap(std::span<const float, 8> a, std::span<const float, 8> b) {
  if (!IsFinite(a) || !IsFinite(b)) return {0, {}, 1};
  const int grid = std::min(GridExponent(a), GridExponent(b));
  const Point origin = {OnGrid(a[0], grid), OnGrid(a[1], grid)};
  const Quad qa = ToIntegers(a, grid, origin), qb = ToIntegers(b, grid, origin);
  const mpz_class area_a = abs(DoubleArea(qa)), area_b = abs(DoubleArea(qb));
  if (area_a == 0 || area_b == 0) return {grid, {}, 1};
  return {grid, DoubleIntersection(qa, qb), area_a + area_b};
}

// mpq_class::get_d truncates; this rounds to nearest.
double ToDouble(const mpz_class& num, const mpz_class& den, int exponent) {
  mpq_class ratio(num, den);
  ratio.canonicalize();
  mpfr_t value;
  mpfr_init2(value, 53);
  mpfr_set_q(value, ratio.get_mpq_t(), MPFR_RNDN);
  mpfr_mul_2si(value, value, exponent, MPFR_RNDN);
  const double result = mpfr_get_d(value, MPFR_RNDN);
  mpfr_clear(value);
  return result;
}

bool InRectangle(const Point& a, const Point& b, const Point& p) {
  return std::min(a.x, b.x) <= p.x && p.x <= std::max(a.x, b.x) && std::min(a.y, b.y) <= p.y &&
         p.y <= std::max(a.y, b.y);
}

// Whether the closed segments ab and cd have a point in common.
bool SegmentsIntersect(const Point& a, const Point& b, const Point& c, const Point& d) {
  const int c_side = sgn(Cross(a, b, c)), d_side = sgn(Cross(a, b, d));
  const int a_side = sgn(Cross(c, d, a)), b_side = sgn(Cross(c, d, b));
  if (c_side * d_side < 0 && a_side * b_side < 0) return true;
  return (c_side == 0 && InRectangle(a, b, c)) || (d_side == 0 && InRectangle(a, b, d)) ||
         (a_side == 0 && InRectangle(c, d, a)) || (b_side == 0 && InRectangle(c, d, b));
}

// Whether the bounding boxes share no interior, which settles most pairs. The floats are compared
// as they are, so nothing is rounded. Not for NaN.
bool BoundsDisjoint(std::span<const float, 8> a, std::span<const float, 8> b) {
  for (int axis = 0; axis < 2; ++axis) {
    const auto [a_min, a_max] = std::minmax({a[axis], a[axis + 2], a[axis + 4], a[axis + 6]});
    const auto [b_min, b_max] = std::minmax({b[axis], b[axis + 2], b[axis + 4], b[axis + 6]});
    if (a_max <= b_min || b_max <= a_min) return true;
  }
  return false;
}

}  // namespace

bool QuadIouGreater(std::span<const float, 8> a, std::span<const float, 8> b, float threshold) {
  if (threshold < 0) return true;
  if (!(threshold < 1)) return false;
  const Overlap overlap = MakeOverlap(a, b);
  const mpq_class ratio(threshold);
  // inter > thr * (sum - inter), with the denominators (all positive) multiplied out.
  return overlap.inter.num * (ratio.get_num() + ratio.get_den()) >
         ratio.get_num() * overlap.area_sum * overlap.inter.den;
}

double QuadIou(std::span<const float, 8> a, std::span<const float, 8> b) {
  const Overlap overlap = MakeOverlap(a, b);
  return ToDouble(overlap.inter.num, overlap.area_sum * overlap.inter.den - overlap.inter.num, 0);
}

double QuadIntersectionArea(std::span<const float, 8> a, std::span<const float, 8> b) {
  const Overlap overlap = MakeOverlap(a, b);
  return ToDouble(overlap.inter.num, overlap.inter.den, 2 * overlap.grid - 1);
}

bool QuadIsSimple(std::span<const float, 8> quad) {
  if (!IsFinite(quad)) return false;
  const Quad q = ToIntegers(quad, GridExponent(quad), {0, 0});
  // Opposite edges suffice: where neighbouring edges fold back onto each other, or a vertex is
  // doubled, an end of one lies on the edge opposite to the edge it shares that end with. And an
  // outline that does not intersect itself has an area.
  return !SegmentsIntersect(q[0], q[1], q[2], q[3]) && !SegmentsIntersect(q[1], q[2], q[3], q[0]);
}

bool QuadIsOnALine(std::span<const float, 8> quad) {
  if (!IsFinite(quad)) return false;
  const Quad q = ToIntegers(quad, GridExponent(quad), {0, 0});
  return Cross(q[0], q[1], q[2]) == 0 && Cross(q[0], q[1], q[3]) == 0 &&
         Cross(q[0], q[2], q[3]) == 0 && Cross(q[1], q[2], q[3]) == 0;
}

std::vector<int32_t> PolyNms(std::span<const float> boxes, float threshold) {
  const size_t count = boxes.size() / 9;
  const auto quad = [&](int64_t i) { return boxes.subspan(9 * i).first<8>(); };
  std::vector<float> scores;
  for (size_t i = 0; i < count; ++i) scores.push_back(boxes[9 * i + 8]);
  std::vector<int32_t> kept;
  for (int64_t i : OrderByScore(scores)) {
    const bool suppressed = std::ranges::any_of(kept, [&](int32_t j) {
      if (threshold >= 0) {
        if (!IsFinite(quad(i)) || !IsFinite(quad(j)) || BoundsDisjoint(quad(i), quad(j))) {
          return false;
        }
      }
      return QuadIouGreater(quad(j), quad(i), threshold);
    });
    if (!suppressed) kept.push_back(static_cast<int32_t>(i));
  }
  std::ranges::sort(kept);
  return kept;
}

}  // namespace detops::oracle
