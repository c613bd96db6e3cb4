// SPDX-License-Identifier: Apache-2.0
#include "host/report.h"

#include <stdarg.h>
#include <stdio.h>

#include <string>

#include "bang/simulator.h"
#include "host/devices.h"
#include "machine/failure.h"
#include "machine/options.h"

namespace bang {
namespace {

thread_local cnrtRet_t last_error = cnrtSuccess;

constexpr struct {
  cnrtRet_t error;
  const char* name;
} kErrors[] = {
#define BANG_ERROR(name) \
  { name, #name }
    BANG_ERROR(cnrtSuccess),
    BANG_ERROR(cnrtErrorNotReady),
    BANG_ERROR(cnrtErrorInit),
    BANG_ERROR(cnrtErrorNoMem),
    BANG_ERROR(cnrtErrorNoDevice),
    BANG_ERROR(cnrtErrorArgsInvalid),
    BANG_ERROR(cnrtErrorSys),
    BANG_ERROR(cnrtErrorDeviceInvalid),
    BANG_ERROR(cnrtErrorSysNoMem),
    BANG_ERROR(cnrtErrorInvalidResourceHandle),
    BANG_ERROR(cnrtErrorNotSupport),
    BANG_ERROR(cnrtErrorAssert),
    BANG_ERROR(cnrtErrorKernelTrap),
    BANG_ERROR(cnrtErrorKernelUserTrap),
    BANG_ERROR(cnrtErrorInvalidKernel),
    BANG_ERROR(cnrtErrorDevice),
    BANG_ERROR(cnrtErrorNoAttribute),
    BANG_ERROR(cnrtErrorMemcpyDirectionInvalid),
#undef BANG_ERROR
};

}  // namespace

void SetLastError(cnrtRet_t error) { last_error = error; }

cnrtRet_t Fail(cnrtRet_t error, const char* call, const char* format, ...) {
  SetLastError(error);
  if (GetOptions().check) {
    va_list arguments;
    va_start(arguments, format);
    const std::string text = FormatList(format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: error: %s\n", call, text.c_str());
  }
  return error;
}

}  // namespace bang

const char* cnrtGetErrorStr(cnrtRet_t error_code) {
  for (const auto& [error, name] : bang::kErrors) {
    if (error == error_code) return name;
  }
  return "cnrtErrorUnknown";
}

const char* bangErrorText(void) { return bang::Current().why(); }

const char* cnrtGetErrorName(cnrtRet_t error_code) { return cnrtGetErrorStr(error_code); }

cnrtRet_t cnrtPeekAtLastError(void) {
  return bang::last_error != cnrtSuccess ? bang::last_error : bang::CurrentDevice().sticky_error();
}

cnrtRet_t cnrtGetLastError(void) {
  const cnrtRet_t error = cnrtPeekAtLastError();
  bang::last_error = cnrtSuccess;
  return error;
}
