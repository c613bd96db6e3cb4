// SPDX-License-Identifier: Apache-2.0
//
// A broken rule ends the kernel: it leaves the task as an exception, and the launch reports it.
#ifndef BANG_MACHINE_FAILURE_H_
#define BANG_MACHINE_FAILURE_H_

#include <stdarg.h>

#include <string>

#include "bang/where.h"

namespace bang {

struct Failure {
  std::string text;
};

// Another core's failure ends this one, without a text of its own.
struct Abandoned {};

std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string FormatList(const char* format, va_list arguments);

// "file:line"
std::string At(Where where);

}  // namespace bang

#endif  // BANG_MACHINE_FAILURE_H_
