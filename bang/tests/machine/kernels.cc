// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <string.h>

alignas(128) thread_local float nram_a[1024];
alignas(128) thread_local float nram_b[1024];

namespace {

using bang::ArrayRecord;
using bang::Space;

constexpr uint64_t kFile = 7;

__attribute__((section("bang_arrays"), used)) const ArrayRecord records[] = {
    {"a", "kernel.mlu", 1, kFile, 0, Space::kNram, sizeof nram_a, []() -> void* { return nram_a; }},
    {"b", "kernel.mlu", 2, kFile, 1, Space::kNram, sizeof nram_b, []() -> void* { return nram_b; }},
    {"s", "kernel.mlu", 3, kFile, 2, Space::kSram, 4096 * 4, nullptr},
};
constexpr uint32_t kArrays[] = {0, 1, 2};

bang::CopyShape Bytes(int count) { return {count * int64_t{4}, {}, {}}; }

}  // namespace

float* SharedFloats() { return static_cast<float*>(bang::SharedMemory(records[2])); }

void Add(float* dst, const float* a, const float* b, int count, int line) {
  bang::VectorCall call("__bang_add", {"kernel.mlu", line});
  call.Count(count);
  call.Read("src0", a, count * int64_t{4});
  call.Read("src1", b, count * int64_t{4});
  call.Write("dst", dst, count * int64_t{4});
  call.Begin({.bytes = count * int64_t{4}, .operations = count});
  for (int i = 0; i < count; ++i) dst[i] = a[i] + b[i];
  call.EndElementwise();
}

void Load(float* nram, const float* gdram, int count, int line) {
  bang::Copy("__memcpy", false, nram, gdram, Bytes(count), GDRAM2NRAM, {"kernel.mlu", line});
}
void Store(float* gdram, const float* nram, int count, int line) {
  bang::Copy("__memcpy", false, gdram, nram, Bytes(count), NRAM2GDRAM, {"kernel.mlu", line});
}
void LoadAsync(float* nram, const float* gdram, int count, int line) {
  bang::Copy("__memcpy_async", true, nram, gdram, Bytes(count), GDRAM2NRAM, {"kernel.mlu", line});
}
void StoreAsync(float* gdram, const float* nram, int count, int line) {
  bang::Copy("__memcpy_async", true, gdram, nram, Bytes(count), NRAM2GDRAM, {"kernel.mlu", line});
}

cnrtRet_t RunKernel(int dim_x, cnrtFunctionType_t type, const std::function<void()>& body,
              std::string* text, bool ordered) {
  const bang::KernelRecord kernel = {"kernel", "kernel.mlu", 10, kFile, kArrays, 3, ordered, 592};
  testing::internal::CaptureStderr();
  bang::Configure({"kernel.mlu", 99}, cnrtDim3_t{static_cast<unsigned>(dim_x), 1, 1}, type, nullptr);
  bang::Launch(kernel, [&body] { body(); });
  const std::string said = testing::internal::GetCapturedStderr();
  if (text != nullptr) *text = said;
  return cnrtGetLastError();
}

void MachineTest::SetUp() {
  cnrtSetDevice(0);
  ASSERT_EQ(cnrtSuccess, cnrtMalloc(reinterpret_cast<void**>(&in), kCount * 4));
  ASSERT_EQ(cnrtSuccess, cnrtMalloc(reinterpret_cast<void**>(&out), kCount * 4));
  std::vector<float> values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = static_cast<float>(i);
  cnrtMemcpy(in, values.data(), kCount * 4, cnrtMemcpyHostToDev);
  cnrtMemset(out, 0, kCount * 4);
}

std::vector<float> MachineTest::Floats(const float* gdram, int count) {
  std::vector<float> values(count);
  EXPECT_EQ(cnrtSuccess, cnrtMemcpy(values.data(), const_cast<float*>(gdram), count * size_t{4},
                                    cnrtMemcpyDevToHost));
  return values;
}
