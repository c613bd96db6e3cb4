// SPDX-License-Identifier: Apache-2.0
//
// What rounding boxes to float does to them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace detops::python {

// Of how many boxes rounding to float moves a coordinate by more than a thousandth of the shortest
// side. `rows` is a row-major array of double [N, columns]; `geometry` says what a row begins with:
// "box", "corners" or "box3d". Boxes without area don't count.
int64_t CountMoved(nanobind::handle rows, const char* geometry);

}  // namespace detops::python
