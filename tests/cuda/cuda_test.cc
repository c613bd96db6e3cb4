// SPDX-License-Identifier: Apache-2.0
//
// What only a GPU has: streams, graphs, asynchronous work and its errors. Whether the results are
// right is checked by all the other tests, which run on every device.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

#include "support/device_buffer.h"
#include "support/every_operator.h"
#include "support/handle.h"
#include "support/operators.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

// A problem on a stream of its own.
class Call {
 public:
  explicit Call(const schema::Schema* op, int ordinal = 0) : problem_(StandardProblem(*op)) {
    const std::string device = "cuda:" + std::to_string(ordinal);
    EXPECT_OK(detopsSetDevice(device.c_str()));
    EXPECT_EQ(cudaSetDevice(ordinal), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_OK(detopsCreate(&handle_, device.c_str()));
    EXPECT_OK(detopsQueueFromStream(&queue_, device.c_str(), stream_));
    EXPECT_OK(mluOpSetQueue(handle_, queue_));
    invocation_ = std::make_unique<schema::Invocation>(handle_, problem_);
    EXPECT_OK(invocation_->Prepare());
  }
  ~Call() {
    invocation_.reset();
    EXPECT_OK(mluOpDestroy(handle_));
    EXPECT_EQ(cnrtQueueDestroy(queue_), cnrtSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  cudaStream_t stream() const { return stream_; }
  void Start() { EXPECT_OK(invocation_->Start()); }
  void Poison() { invocation_->Poison(); }
  std::vector<std::byte> Result() {
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    return BytesOf(*invocation_);
  }

 private:
  const schema::Problem problem_;
  std::unique_ptr<schema::Invocation> invocation_;
  cudaStream_t stream_ = nullptr;
  mluOpHandle_t handle_ = nullptr;
  cnrtQueue_t queue_ = nullptr;
};

std::vector<std::byte> OnTheProcessor(const schema::Schema* op) {
  EXPECT_OK(detopsSetDevice("cpu"));
  const Handle handle("cpu:reference");
  const schema::Problem problem = StandardProblem(*op);
  schema::Invocation invocation(handle, problem);
  EXPECT_OK(invocation.Prepare());
  EXPECT_OK(invocation.Start());
  return BytesOf(invocation);
}

class CudaTest : public testing::TestWithParam<const schema::Schema*> {
 protected:
  void SetUp() override {
    const std::string reason = WhyNot("cuda");
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_P(CudaTest, RecordsInAGraphAndReplays) {
  const std::vector<std::byte> expected = OnTheProcessor(GetParam());
  Call call(GetParam());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  // Global: any allocation or wait, by any means, would end the capture.
  ASSERT_EQ(cudaStreamBeginCapture(call.stream(), cudaStreamCaptureModeGlobal), cudaSuccess);
  call.Start();
  ASSERT_EQ(cudaStreamEndCapture(call.stream(), &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  for (int i = 0; i < 3; ++i) {
    call.Poison();
    ASSERT_EQ(cudaGraphLaunch(executable, call.stream()), cudaSuccess);
    EXPECT_EQ(call.Result(), expected) << "replay " << i;
  }
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

// The work before a call may be of any kind, and more than one kind.
TEST_P(CudaTest, RecordsAfterOtherKindsOfWork) {
  const std::vector<std::byte> expected = OnTheProcessor(GetParam());
  Call call(GetParam());
  cudaStream_t beside = nullptr;
  cudaEvent_t fork = nullptr, join = nullptr;
  void* memory = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&fork), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&join), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&memory, 2048), cudaSuccess);
  const auto work = [&] {
    EXPECT_EQ(cudaEventRecord(fork, call.stream()), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(beside, fork, 0), cudaSuccess);
    EXPECT_EQ(cudaMemsetAsync(memory, 1, 1024, beside), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(join, beside), cudaSuccess);
    EXPECT_EQ(cudaMemsetAsync(static_cast<char*>(memory) + 1024, 2, 1024, call.stream()),
              cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(call.stream(), join, 0), cudaSuccess);
    call.Start();
    call.Start();
  };
  call.Poison();
  work();
  EXPECT_EQ(call.Result(), expected);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(call.stream(), cudaStreamCaptureModeGlobal), cudaSuccess);
  work();
  ASSERT_EQ(cudaStreamEndCapture(call.stream(), &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  call.Poison();
  ASSERT_EQ(cudaGraphLaunch(executable, call.stream()), cudaSuccess);
  EXPECT_EQ(call.Result(), expected);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(fork), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(join), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(beside), cudaSuccess);
}

TEST_P(CudaTest, ReturnsWhileItsStreamWaits) {
  const std::vector<std::byte> expected = OnTheProcessor(GetParam());
  Call call(GetParam());
  call.Start();  // loads the kernels, which may wait
  EXPECT_EQ(call.Result(), expected);
  call.Poison();
  std::atomic<bool> go = false;
  ASSERT_EQ(cudaLaunchHostFunc(
                call.stream(),
                [](void* flag) {
                  while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
                },
                &go),
            cudaSuccess);
  call.Start();  // would hang here if it waited for the device
  EXPECT_EQ(cudaStreamQuery(call.stream()), cudaErrorNotReady);
  go = true;
  EXPECT_EQ(call.Result(), expected);
}

INSTANTIATE_TEST_SUITE_P(EveryOperator, CudaTest, testing::ValuesIn(schema::All()),
                         [](const auto& test) { return std::string(test.param->name); });

class CudaDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = WhyNot("cuda");
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_F(CudaDeviceTest, ManyThreadsEachWithAStream) {
  std::vector<std::vector<std::byte>> expected;
  for (const schema::Schema* what : schema::All()) expected.push_back(OnTheProcessor(what));
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        for (size_t i = 0; i < expected.size(); ++i) {
          Call call(schema::All()[i]);
          call.Poison();
          call.Start();
          EXPECT_EQ(call.Result(), expected[i]);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A kernel's limit of shared memory is one attribute for all threads, and each map needs a
// different amount.
TEST_F(CudaDeviceTest, ManyThreadsEachWithAMapOfItsSize) {
  struct Map {
    BorderAlignShape shape;
    std::vector<float> input, boxes;
    BorderAlignResult<float> expected;
  };
  Rng rng(8);
  std::vector<Map> maps;
  for (const auto& [h, w] : {std::pair{7, 10}, {25, 38}, {60, 90}, {100, 152}, {150, 200}}) {
    Map map = {{1, h, w, 6, 50, 5, /*nchw=*/true}, {}, {}, {}};
    map.input = UniformFloats(rng, int64_t{24} * h * w, -1, 1);
    map.boxes = RandomBoxes(rng, 50, static_cast<float>(h));
    map.expected = BorderAlign("cpu:reference", Floats(map.input), Floats(map.boxes), map.shape);
    maps.push_back(std::move(map));
  }
  std::vector<std::thread> threads;
  for (const Map& map : maps) {
    threads.emplace_back([&map] {
      for (int round = 0; round < 50; ++round) {
        const auto got = BorderAlign("cuda:simt", Floats(map.input), Floats(map.boxes), map.shape);
        ExpectSameFloats(got.output, map.expected.output, std::to_string(map.shape.h));
        EXPECT_EQ(got.argmax_idx, map.expected.argmax_idx);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CudaDeviceTest, EveryDeviceAtOnce) {
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  if (devices < 2) GTEST_SKIP() << "there is one GPU alone";
  for (const schema::Schema* what : schema::All()) {
    const std::vector<std::byte> expected = OnTheProcessor(what);
    std::vector<std::unique_ptr<Call>> calls;
    for (int d = 0; d < devices; ++d) calls.push_back(std::make_unique<Call>(what, d));
    for (const auto& call : calls) call->Poison();
    for (const auto& call : calls) call->Start();  // whichever device the thread has chosen
    for (const auto& call : calls) EXPECT_EQ(call->Result(), expected);
  }
}

TEST_F(CudaDeviceTest, TooMuchMemoryIsToldAsSuch) {
  const Handle handle("cuda:simt");
  void* memory = nullptr;
  EXPECT_EQ(detopsAllocate(handle, size_t{1} << 50, &memory), MLUOP_STATUS_ALLOC_FAILED);
  EXPECT_NE(std::string(detopsGetLastErrorMessage()).find("out of memory"), std::string::npos)
      << detopsGetLastErrorMessage();
  // No error is left behind.
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_OK(detopsAllocate(handle, 1024, &memory));
  EXPECT_OK(detopsFree(handle, memory));
}

TEST_F(CudaDeviceTest, CountsAndChoosesDevices) {
  ASSERT_OK(detopsSetDevice("cuda"));
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  unsigned count = 0;
  EXPECT_EQ(cnrtGetDeviceCount(&count), cnrtSuccess);
  EXPECT_EQ(count, static_cast<unsigned>(devices));
  EXPECT_EQ(cnrtSetDevice(devices - 1), cnrtSuccess);
  int ordinal = -1;
  EXPECT_EQ(cnrtGetDevice(&ordinal), cnrtSuccess);
  EXPECT_EQ(ordinal, devices - 1);
  EXPECT_EQ(cnrtSetDevice(devices), cnrtErrorArgsInvalid);
  mluOpHandle_t handle = nullptr;
  EXPECT_EQ(detopsCreate(&handle, ("cuda:" + std::to_string(devices)).c_str()),
            MLUOP_STATUS_BAD_PARAM);
}

[[noreturn]] void UseABadPointer() {
  const Handle handle("cuda:simt");
  const Desc boxes(MLUOP_DTYPE_FLOAT, {100, 4}), ious(MLUOP_DTYPE_FLOAT, {100, 100});
  auto* nowhere = reinterpret_cast<float*>(size_t{0x1000});
  mluOpBboxOverlaps(handle, 0, false, 0, boxes, nowhere, boxes, nowhere, ious, nowhere);
  cnrtQueueSync(nullptr);
  std::fprintf(stderr, "%s\n", detopsGetLastErrorMessage());
  void* memory = nullptr;
  const mluOpStatus_t status = detopsAllocate(handle, 16, &memory);  // and all later calls fail
  std::_Exit(status == MLUOP_STATUS_EXECUTION_FAILED ? 0 : 1);
}

// In a process of its own: after such an error CUDA refuses everything.
TEST_F(CudaDeviceTest, ABadPointerIsAnErrorWithCudasText) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(UseABadPointer(), testing::ExitedWithCode(0),
              "cnrtQueueSync: .*illegal memory access");
}

}  // namespace
}  // namespace detops::test
