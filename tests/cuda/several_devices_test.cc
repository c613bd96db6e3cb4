// SPDX-License-Identifier: Apache-2.0
//
// Handles on several GPUs, with a fake runtime that has three of different generations
// (fake/cudart.h): whatever device the caller's thread has selected, a call sizes, launches and
// waits on its handle's device, and leaves the selection unchanged. What kernels compute on several
// real GPUs is checked by EveryDeviceAtOnce of cuda_test.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cuda/fake/cudart.h"
#include "detops/detops.h"
#include "support/every_operator.h"
#include "support/handle.h"

namespace detops::test {
namespace {

using fake_cuda::kDeviceCount;
using fake_cuda::LaunchesOn;

std::string NameOf(int device) { return "cuda:" + std::to_string(device); }

// Every function of every operator.
std::vector<schema::Problem> Problems() {
  std::vector<schema::Problem> all;
  for (const schema::Schema* op : schema::All()) {
    for (size_t form = 0; form < op->forms.size(); ++form) {
      all.push_back(StandardProblem(*op, form));
    }
  }
  return all;
}

std::string TextOf(const schema::Problem& problem) {
  return problem.form().function + (" " + problem.schema->describe(problem));
}

// On a queue of its own and on the default one.
void RunOn(int device, const schema::Problem& problem) {
  SCOPED_TRACE(TextOf(problem) + " on " + NameOf(device));
  mluOpHandle_t handle = nullptr;
  cnrtQueue_t queue = nullptr;
  ASSERT_OK(detopsCreate(&handle, NameOf(device).c_str()));
  ASSERT_OK(detopsSetDevice(NameOf(device).c_str()));
  ASSERT_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  {
    schema::Invocation invocation(handle, problem);
    ASSERT_OK(invocation.Prepare());
    for (const cnrtQueue_t use : {cnrtQueue_t{nullptr}, queue}) {
      ASSERT_OK(mluOpSetQueue(handle, use));
      EXPECT_OK(invocation.Start()) << detopsGetLastErrorMessage();
    }
  }
  EXPECT_EQ(cnrtQueueSync(queue), cnrtSuccess);
  EXPECT_EQ(cnrtQueueDestroy(queue), cnrtSuccess);
  EXPECT_OK(mluOpDestroy(handle));
}

TEST(SeveralDevices, AreAllThere) {
  ASSERT_OK(detopsSetDevice("cuda"));
  unsigned count = 0;
  EXPECT_EQ(cnrtGetDeviceCount(&count), cnrtSuccess);
  EXPECT_EQ(count, kDeviceCount);
  mluOpHandle_t handle = nullptr;
  EXPECT_EQ(detopsCreate(&handle, "cuda:3"), MLUOP_STATUS_BAD_PARAM);
}

TEST(SeveralDevices, ACallWorksOnItsHandlesDevice) {
  for (const schema::Problem& what : Problems()) {
    for (int device = 0; device < kDeviceCount; ++device) {
      const int chosen = (device + 1) % kDeviceCount;
      ASSERT_EQ(cudaSetDevice(chosen), cudaSuccess);
      std::vector<int64_t> before;
      for (int d = 0; d < kDeviceCount; ++d) before.push_back(LaunchesOn(d));
      RunOn(device, what);
      for (int d = 0; d < kDeviceCount; ++d) {
        EXPECT_EQ(LaunchesOn(d) > before[d], d == device) << TextOf(what);
      }
      int still = -1;
      ASSERT_EQ(cudaGetDevice(&still), cudaSuccess);
      EXPECT_EQ(still, chosen);
    }
  }
}

// A map of 61 KB: more shared memory than a kernel has by default, so it must be requested on each
// device. Each device has room for another number of channels.
TEST(SeveralDevices, SharedMemoryIsAskedOfEach) {
  const schema::Desc input(MLUOP_DTYPE_FLOAT, {1, 16, 100, 152}, MLUOP_LAYOUT_NCHW);
  const schema::Desc boxes(MLUOP_DTYPE_FLOAT, {1, 10, 4});
  const schema::Desc output(MLUOP_DTYPE_FLOAT, {1, 4, 10, 4}, MLUOP_LAYOUT_NCHW);
  const schema::Desc argmax_idx(MLUOP_DTYPE_INT32, {1, 4, 10, 4}, MLUOP_LAYOUT_NCHW);
  for (int device = 0; device < kDeviceCount; ++device) {
    const schema::Handle handle(NameOf(device));
    const schema::Buffer memory(handle, 16 * 100 * 152 * 4, 1);  // for all of them
    EXPECT_OK(detopsBorderAlignForward(handle, input, memory.at(0), boxes, memory.at(0), 10, output,
                                       memory.at(0), argmax_idx, memory.at(0)))
        << NameOf(device) << ": " << detopsGetLastErrorMessage();
  }
}

TEST(SeveralDevices, FromAThreadEach) {
  std::vector<std::thread> threads;
  for (int device = 0; device < kDeviceCount; ++device) {
    threads.emplace_back([device] {
      for (const schema::Problem& what : Problems()) RunOn(device, what);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// CUB's temporary memory differs between generations: with too little for the handle's device, it
// would write out of bounds.
TEST(SeveralDevices, AWorkspaceIsOfItsHandlesDevice) {
  mluOpTensorDescriptor_t boxes = nullptr;
  ASSERT_OK(mluOpCreateTensorDescriptor(&boxes));
  const int dims[] = {300000, 9};
  ASSERT_OK(mluOpSetTensorDescriptor(boxes, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 2, dims));
  std::set<size_t> sizes;
  for (int device = 0; device < kDeviceCount; ++device) {
    mluOpHandle_t handle = nullptr;
    ASSERT_OK(detopsCreate(&handle, NameOf(device).c_str()));
    std::set<size_t> of_device;
    for (int chosen = 0; chosen < kDeviceCount; ++chosen) {
      ASSERT_EQ(cudaSetDevice(chosen), cudaSuccess);
      size_t bytes = 0;
      ASSERT_OK(mluOpGetPolyNmsWorkspaceSize(handle, boxes, &bytes));
      of_device.insert(bytes);
    }
    EXPECT_EQ(of_device.size(), 1u) << NameOf(device);
    sizes.merge(of_device);
    ASSERT_OK(mluOpDestroy(handle));
  }
  ASSERT_OK(mluOpDestroyTensorDescriptor(boxes));
  if (sizes.size() == 1) GTEST_SKIP() << "compiled for too few generations to show anything";
}

}  // namespace
}  // namespace detops::test
