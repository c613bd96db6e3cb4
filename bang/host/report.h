// SPDX-License-Identifier: Apache-2.0
//
// How calls of the host side fail: with a result, as the thread's last error, and with a text.
#ifndef BANG_HOST_REPORT_H_
#define BANG_HOST_REPORT_H_

#include "cnrt.h"

namespace bang {

// Remembers `error` for cnrtGetLastError, says why on stderr unless checks are off, and returns it.
cnrtRet_t Fail(cnrtRet_t error, const char* call, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

}  // namespace bang

#endif  // BANG_HOST_REPORT_H_
