// SPDX-License-Identifier: Apache-2.0
//
// Kernels as bangcc writes them, by hand: for tests of the machine without the compiler.
#ifndef BANG_TESTS_MACHINE_KERNELS_H_
#define BANG_TESTS_MACHINE_KERNELS_H_

#include <gtest/gtest.h>
#include <stdint.h>

#include <functional>
#include <string>
#include <vector>

#include "bang/launch.h"
#include "bang/machine.h"
#include "bang/task.h"
#include "cnrt.h"
#include "machine/vector_call.h"

// One file's arrays, in this order of their ids.
extern thread_local float nram_a[1024], nram_b[1024];
float* SharedFloats();  // 4096 in SRAM

inline int CoreId() { return bang::CurrentTask().core_id; }
inline int TaskId() { return bang::CurrentTask().id; }
inline bool IsMpu() { return CoreId() == bang::kMpuCoreId; }

// dst = a + b; `line` stands for the line of a built-in.
void Add(float* dst, const float* a, const float* b, int count, int line = __builtin_LINE());
void Load(float* nram, const float* gdram, int count, int line = __builtin_LINE());
void Store(float* gdram, const float* nram, int count, int line = __builtin_LINE());
void LoadAsync(float* nram, const float* gdram, int count, int line = __builtin_LINE());
void StoreAsync(float* gdram, const float* nram, int count, int line = __builtin_LINE());
inline bang::Where Line(int line = __builtin_LINE()) { return {"kernel.mlu", line}; }

// Runs the body as a kernel. What it says on stderr is left in `text`.
cnrtRet_t RunKernel(int dim_x, cnrtFunctionType_t type, const std::function<void()>& body,
              std::string* text = nullptr, bool ordered = false);

class MachineTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override { cnrtDeviceReset(); }
  std::vector<float> Floats(const float* gdram, int count);

  static constexpr int kCount = 65536;
  float* in;   // 0, 1, 2, ...
  float* out;  // zeros
};

#endif  // BANG_TESTS_MACHINE_KERNELS_H_
