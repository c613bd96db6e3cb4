// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include "ops/names.h"

namespace detops::python {

namespace nb = nanobind;
using namespace nb::literals;

// The Python function of an operator: each file of ops/ specialises it.
template <class Op>
void Bind(nb::module_& module);

}  // namespace detops::python
