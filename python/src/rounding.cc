// SPDX-License-Identifier: Apache-2.0
#include "rounding.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "buffer.h"

namespace detops::python {
namespace {

constexpr double kTolerance = 1e-3;  // of a box's shortest side

// x1, y1, x2, y2.
double SideOfBox(const double* box) {
  return std::min(std::abs(box[2] - box[0]), std::abs(box[3] - box[1]));
}

// x1, y1, ..., x4, y4.
double SideOfCorners(const double* box) {
  double squared = INFINITY;
  for (int i = 0; i < 8; i += 2) {
    const int next = (i + 2) % 8;
    const double x = box[next] - box[i], y = box[next + 1] - box[i + 1];
    squared = std::min(squared, x * x + y * y);
  }
  return std::sqrt(squared);
}

// Centre, sizes, heading.
double SideOfBox3d(const double* box) { return std::min({box[3], box[4], box[5]}); }

struct Geometry {
  std::string_view name;
  int coordinates;  // that the box begins with
  double (*side)(const double* box);
};

constexpr Geometry kGeometries[] = {
    {"box", 4, &SideOfBox},
    {"corners", 8, &SideOfCorners},
    {"box3d", 3, &SideOfBox3d},
};

// 0 for NaN and infinity.
double Moved(const double* coordinates, int count) {
  double most = 0;
  for (int i = 0; i < count; ++i) {
    const double moved = std::abs(coordinates[i] - static_cast<float>(coordinates[i]));
    if (moved > most) most = moved;
  }
  return most;
}

}  // namespace

int64_t CountMoved(nanobind::handle rows, const char* geometry) {
  Buffer buffer;
  if (!buffer.Get(rows, PyBUF_C_CONTIGUOUS)) throw nanobind::python_error();
  const auto* kind = std::find_if(std::begin(kGeometries), std::end(kGeometries),
                                  [&](const Geometry& known) { return known.name == geometry; });
  if (kind == std::end(kGeometries)) throw std::invalid_argument(geometry);
  const auto* row = static_cast<const double*>(buffer->buf);
  const auto columns = buffer->shape[1];
  int64_t count = 0;
  for (Py_ssize_t i = 0; i < buffer->shape[0]; ++i, row += columns) {
    const double moved = Moved(row, kind->coordinates);
    if (moved == 0) continue;
    const double side = kind->side(row);
    count += side > 0 && moved > kTolerance * side;
  }
  return count;
}

}  // namespace detops::python
