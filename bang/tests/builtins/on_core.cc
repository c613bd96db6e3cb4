// SPDX-License-Identifier: Apache-2.0
#include "on_core.h"

std::string OnCore(const std::function<void(char* nram)>& body) {
  const bang::KernelRecord kernel = {"kernel", "kernel.mlu", 1, 1, nullptr, 0, false, 592};
  testing::internal::CaptureStderr();
  bang::Configure(bang::Here(), cnrtDim3_t{1, 1, 1}, cnrtFuncTypeBlock, nullptr);
  bang::Launch(kernel, [&body] {
    alignas(128) static thread_local char nram[kNramBytes];
    const bang::LocalArray guard("nram", bang::Space::kNram, nram, sizeof nram);
    __bang_write_zero(nram, sizeof nram);
    body(nram);
  });
  const std::string text = testing::internal::GetCapturedStderr();
  if (cnrtGetLastError() == cnrtSuccess) return "";
  cnrtDeviceReset();
  return text.empty() ? "failed without a word" : text;
}
