// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace detops::python {

// An attribute of a module, looked up once and kept for the life of the process. The slot is a
// plain static under the GIL: a guarded one would be locked while the import runs Python, and a
// thread that waits for the lock with the GIL in its hand would wait for ever.
inline nanobind::handle Kept(PyObject*& slot, const char* module, const char* name) {
  if (slot == nullptr) {
    nanobind::object found = nanobind::module_::import_(module).attr(name);
    // Another thread may have been faster, while Python ran.
    if (slot == nullptr) slot = found.release().ptr();
  }
  return slot;
}

}  // namespace detops::python
