// SPDX-License-Identifier: Apache-2.0
//
// What a program asked of the library, for people who look for a mistake:
//   DETOPS_LOG=calls      one line on stderr per call: arguments, implementation, time, or why not
//   DETOPS_RECORD=folder  each call becomes a case file with its data, which `detops check` and
//                         `detops bench` repeat anywhere; MLUOP_GEN_CASE_ON=1 (shapes alone) or 2
//                         (with data) does it as mluOp, into ./gen_case
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "core/status.h"
#include "core/tensor_desc.h"
#include "runtime/context.h"

namespace detops::runtime {

struct TensorArgument {
  const char* name;
  const mluOpTensorStruct* desc;
  const void* data;
  bool is_output = false;
};
struct ScalarArgument {
  const char* name;
  double value;
};
constexpr bool kOutput = true;

// True if DETOPS_LOG has the word, between commas.
bool LogHas(const char* word);

// One call of a C function. Costs nothing to speak of where nobody listens.
class CallLog {
 public:
  CallLog(const char* function, const char* op, std::initializer_list<ScalarArgument> scalars,
          std::initializer_list<TensorArgument> tensors);

  // Before a kernel runs: the arguments were checked, so that the data can be read.
  // What goes wrong is said on stderr, once; the call goes on.
  void Record(const mluOpContext& handle) const noexcept;
  void Finish(mluOpStatus_t status, const mluOpContext* handle) const noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  std::string CaseText(const std::string& stem, bool with_data) const;

  const char *function_, *op_;
  std::span<const ScalarArgument> scalars_;
  std::span<const TensorArgument> tensors_;
  Clock::time_point start_;
};

// The body of an operator's C function: body(context) between the checks of the handle and the log.
template <class Op, class Body>
mluOpStatus_t Call(const char* function, mluOpHandle_t handle,
                   std::initializer_list<ScalarArgument> scalars,
                   std::initializer_list<TensorArgument> tensors, const Body& body) noexcept {
  const CallLog log(function, Op::kName, scalars, tensors);
  const mluOpStatus_t status = core::Guard(function, [&] {
    mluOpContext& context = RequireHandle(handle);
    context.last_implementation = "";
    context.call = &log;
    body(context);
  });
  if (handle != nullptr) handle->call = nullptr;
  log.Finish(status, handle);
  return status;
}

}  // namespace detops::runtime
