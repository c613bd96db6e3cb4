// SPDX-License-Identifier: Apache-2.0
//
// Axis-parallel boxes: areas, intersections and overlaps. `off` is the pixel offset, 0 or 1.
#if defined(DETOPS_MATH_BOX_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_MATH_BOX_H_
#undef DETOPS_MATH_BOX_H_
#else
#define DETOPS_MATH_BOX_H_
#endif

#include "math/lane.h"
#include "math/per_target.h"

DETOPS_BEGIN_PER_TARGET_MATH

template <class F>
struct Box {
  F x1, y1, x2, y2;
};

template <class F>
DETOPS_HD F BoxArea(const Box<F>& b, F off) {
  return (b.x2 - b.x1 + off) * (b.y2 - b.y1 + off);
}

// Adds nothing. Without a pixel offset and without -0 among the coordinates no length is -0, so
// adding 0 to it changes no bit.
struct NoOffset {};
template <class F>
DETOPS_HD F operator+(F length, NoOffset) {
  return length;
}

// `zero`, and `least` below, are numbers or other types that have a Max with a number
// (cpu/lane-inl.h).
template <class F, class Offset, class Zero>
DETOPS_HD F BoxIntersection(const Box<F>& a, const Box<F>& b, Offset off, Zero zero) {
  const F w = Max(zero, Min(a.x2, b.x2) - Max(a.x1, b.x1) + off);
  const F h = Max(zero, Min(a.y2, b.y2) - Max(a.y1, b.y1) + off);
  return w * h;
}

// A NaN coordinate gives NaN: one in `b` passes through Min and Max, which then return their second
// argument; one in `a` makes area_a NaN. `least` is the offset again, as a number.
template <class F, class Offset, class Least, class Zero>
DETOPS_HD F BoxIoU(const Box<F>& a, const Box<F>& b, F area_a, F area_b, Offset off, Least least,
                   Zero zero) {
  const F inter = BoxIntersection(a, b, off, zero);
  return inter / Max(least, (area_a + area_b) - inter);
}

// Intersection over the foreground: the area of `a`.
template <class F, class Offset, class Least, class Zero>
DETOPS_HD F BoxIoF(const Box<F>& a, const Box<F>& b, F area_a, Offset off, Least least, Zero zero) {
  return BoxIntersection(a, b, off, zero) / Max(least, area_a);
}

// The overlap that the suppression of proposals compares with its threshold: the union has no lower
// limit, so two empty boxes give NaN, which suppresses nothing.
template <class F>
DETOPS_HD F BoxNmsOverlap(const Box<F>& a, const Box<F>& b, F area_a, F area_b, F off, F zero) {
  const F inter = BoxIntersection(a, b, off, zero);
  return inter / ((area_a + area_b) - inter);
}

DETOPS_END_PER_TARGET_MATH

#endif
