// SPDX-License-Identifier: Apache-2.0
//
// Failures inside the library are exceptions; at the C boundary Guard turns each into a status and
// the thread's last error text.
#pragma once

#include <exception>
#include <sstream>
#include <string>
#include <utility>

#include "mlu_op.h"

namespace detops::core {

class Failure : public std::exception {
 public:
  Failure(mluOpStatus_t status, std::string text) : status_(status), text_(std::move(text)) {}
  mluOpStatus_t status() const { return status_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  mluOpStatus_t status_;
  std::string text_;
};

template <class... Parts>
std::string Concat(const Parts&... parts) {
  std::ostringstream text;
  text.exceptions(std::ios::badbit);  // else a text for which memory runs out is cut, not refused
  (text << ... << parts);
  return text.str();
}

template <class... Parts>
[[noreturn]] void Fail(mluOpStatus_t status, const Parts&... parts) {
  throw Failure(status, Concat(parts...));
}

template <class... Parts>
[[noreturn]] void BadParam(const Parts&... parts) {
  Fail(MLUOP_STATUS_BAD_PARAM, parts...);
}

const char* LastError() noexcept;

// To be called inside a catch block: the status of the exception in flight, whose text becomes the
// last error, with the function's name in front.
mluOpStatus_t RecordCurrentException(const char* function) noexcept;

template <class Body>
mluOpStatus_t Guard(const char* function, Body&& body) noexcept {
  try {
    body();
    return MLUOP_STATUS_SUCCESS;
  } catch (...) {
    return RecordCurrentException(function);
  }
}

}  // namespace detops::core
