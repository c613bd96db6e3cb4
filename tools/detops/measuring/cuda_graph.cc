// SPDX-License-Identifier: Apache-2.0
#include "measuring/cuda_graph.h"

#ifdef DETOPS_WITH_CUDA
#include <cuda_runtime_api.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <stdexcept>

#include "measuring/limits.h"

namespace detops::cli {
namespace {

constexpr double kGraphSeconds = 2e-3;  // of calls in one graph: replaying one costs microseconds
constexpr int64_t kMostCalls = 64;
constexpr size_t kLeastReplays = 9;

void Check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

int OrdinalOf(const std::string& device) {
  int ordinal = 0;
  const size_t colon = device.find(':');
  if (colon != std::string::npos) {
    std::from_chars(device.data() + colon + 1, device.data() + device.size(), ordinal);
  }
  return ordinal;
}

// A stream as the queue of an execution, while it lives.
class Stream {
 public:
  Stream(Execution& execution, const std::string& device) : execution_(execution) {
    Check(cudaSetDevice(OrdinalOf(device)));
    Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    Check(cudaEventCreate(&begin_));
    Check(cudaEventCreate(&end_));
    schema::Require(detopsQueueFromStream(&queue_, device.c_str(), stream_));
    schema::Require(mluOpSetQueue(execution.handle(), queue_));
  }
  ~Stream() {
    mluOpSetQueue(execution_.handle(), nullptr);
    cnrtQueueDestroy(queue_);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  double SecondsOf(const std::function<void()>& work) {
    Check(cudaEventRecord(begin_, stream_));
    work();
    Check(cudaEventRecord(end_, stream_));
    Check(cudaEventSynchronize(end_));
    float milliseconds = 0;
    Check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds * 1e-3;
  }
  cudaGraphExec_t Record(const std::function<void()>& work) {
    Check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    work();
    cudaGraph_t graph;
    Check(cudaStreamEndCapture(stream_, &graph));
    cudaGraphExec_t executable;
    Check(cudaGraphInstantiate(&executable, graph, 0));
    Check(cudaGraphDestroy(graph));
    return executable;
  }
  void Replay(cudaGraphExec_t graph) { Check(cudaGraphLaunch(graph, stream_)); }

 private:
  Execution& execution_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  cnrtQueue_t queue_ = nullptr;
};

}  // namespace

std::optional<double> SecondsInCudaGraph(Execution& execution, const std::string& device,
                                         double seconds) {
  if (BackendOf(device) != "cuda") return std::nullopt;
  Stream stream(execution, device);
  stream.SecondsOf([&] { execution.Start(); });
  const double once = stream.SecondsOf([&] { execution.Start(); });
  const auto calls = std::clamp<int64_t>(static_cast<int64_t>(kGraphSeconds / once), 1, kMostCalls);
  const cudaGraphExec_t graph = stream.Record([&] {
    for (int64_t i = 0; i < calls; ++i) execution.Start();
  });
  std::vector<double> samples;
  double total = 0;
  for (int i = 0; i < 3; ++i) stream.SecondsOf([&] { stream.Replay(graph); });
  while (samples.size() < kLeastReplays || total < seconds) {
    const double sample = stream.SecondsOf([&] { stream.Replay(graph); });
    total += sample;
    samples.push_back(sample / static_cast<double>(calls));
  }
  Check(cudaGraphExecDestroy(graph));
  return Median(samples);
}

}  // namespace detops::cli
#else
namespace detops::cli {

std::optional<double> SecondsInCudaGraph(Execution&, const std::string&, double) {
  return std::nullopt;
}

}  // namespace detops::cli
#endif
