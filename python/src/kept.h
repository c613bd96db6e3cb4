// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace detops::python {

// An object for the life of the process: at exit interpreters drop modules in any order.
inline nanobind::handle Kept(nanobind::object object) { return object.release(); }

}  // namespace detops::python
