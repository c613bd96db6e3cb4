// SPDX-License-Identifier: Apache-2.0

#include <geos_c.h>

#include <cmath>
#include <limits>
#include <memory>

#include "oracle.h"

namespace detops::oracle {
namespace {

using Context = std::unique_ptr<GEOSContextHandle_HS, decltype(&GEOS_finish_r)>;

// GEOS frees geometries through the context that made them.
struct Destroy {
  GEOSContextHandle_t context;
  void operator()(GEOSGeometry* geometry) const { GEOSGeom_destroy_r(context, geometry); }
};
using Geometry = std::unique_ptr<GEOSGeometry, Destroy>;

// Null when GEOS refuses. Each constructor takes ownership of its argument, even when it fails.
Geometry MakePolygon(GEOSContextHandle_t context, std::span<const float, 8> quad, double origin_x,
                     double origin_y) {
  double closed[10];
  for (int i = 0; i < 5; ++i) {
    closed[2 * i] = quad[2 * (i % 4)] - origin_x;
    closed[2 * i + 1] = quad[2 * (i % 4) + 1] - origin_y;
  }
  GEOSCoordSequence* sequence = GEOSCoordSeq_copyFromBuffer_r(context, closed, 5, false, false);
  GEOSGeometry* ring =
      sequence != nullptr ? GEOSGeom_createLinearRing_r(context, sequence) : nullptr;
  GEOSGeometry* polygon =
      ring != nullptr ? GEOSGeom_createPolygon_r(context, ring, nullptr, 0) : nullptr;
  return Geometry(polygon, Destroy{context});
}

}  // namespace

double QuadIntersectionAreaGeos(std::span<const float, 8> a, std::span<const float, 8> b) {
  for (int i = 0; i < 8; ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return 0;
  }
  constexpr double kError = std::numeric_limits<double>::quiet_NaN();
  const Context context(GEOS_init_r(), &GEOS_finish_r);
  const Geometry polygon_a = MakePolygon(context.get(), a, a[0], a[1]);
  const Geometry polygon_b = MakePolygon(context.get(), b, a[0], a[1]);
  if (!polygon_a || !polygon_b) return kError;
  const Geometry common(GEOSIntersection_r(context.get(), polygon_a.get(), polygon_b.get()),
                        Destroy{context.get()});
  double area;
  if (!common || GEOSArea_r(context.get(), common.get(), &area) == 0) return kError;
  return area;
}

}  // namespace detops::oracle
