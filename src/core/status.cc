// SPDX-License-Identifier: Apache-2.0
#include "core/status.h"

#include <cstdio>
#include <new>

namespace detops::core {
namespace {

// A fixed buffer: recording that memory ran out must not need memory.
thread_local char last_error[1024] = "";

void SetLastError(const char* function, const char* text) noexcept {
  std::snprintf(last_error, sizeof(last_error), "%s: %s", function, text);
}

}  // namespace

const char* LastError() noexcept { return last_error; }

mluOpStatus_t RecordCurrentException(const char* function) noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    SetLastError(function, failure.what());
    return failure.status();
  } catch (const std::bad_alloc&) {
    SetLastError(function, "out of host memory");
    return MLUOP_STATUS_ALLOC_FAILED;
  } catch (const std::exception& error) {
    SetLastError(function, error.what());
    return MLUOP_STATUS_INTERNAL_ERROR;
  } catch (...) {
    SetLastError(function, "unknown error");
    return MLUOP_STATUS_INTERNAL_ERROR;
  }
}

}  // namespace detops::core
