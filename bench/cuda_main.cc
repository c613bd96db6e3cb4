// SPDX-License-Identifier: Apache-2.0
//
// Device time of every case on a CUDA device, by events of CUDA. Calls are recorded in a graph and
// replayed, so that the host's part of a launch does not show; the time of plain calls, one after
// the other, stands beside it. Each result is first compared with the processor's.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/case.h"

namespace detops::bench {
namespace {

void Check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

struct Times {
  double median, min, max;  // seconds
};

Times Summary(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds.front(), seconds.back()};
}

class Timer {
 public:
  Timer() {
    Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    Check(cudaEventCreate(&begin_));
    Check(cudaEventCreate(&end_));
  }
  ~Timer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  cudaStream_t stream() const { return stream_; }

  double Once(const std::function<void()>& work) {
    Check(cudaEventRecord(begin_, stream_));
    work();
    Check(cudaEventRecord(end_, stream_));
    Check(cudaEventSynchronize(end_));
    float milliseconds = 0;
    Check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds * 1e-3;
  }
  // work() does something `calls` times.
  Times Of(int64_t calls, const std::function<void()>& work) {
    for (int i = 0; i < 3; ++i) Once(work);
    std::vector<double> seconds;
    double total = 0;
    while (seconds.size() < 9 || (total < 0.1 && seconds.size() < 101)) {
      total += Once(work);
      seconds.push_back(Once(work) / static_cast<double>(calls));
    }
    return Summary(seconds);
  }
  Times OfGraph(int64_t calls, const std::function<void(int64_t)>& call) {
    Check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    for (int64_t i = 0; i < calls; ++i) call(i);
    cudaGraph_t graph;
    Check(cudaStreamEndCapture(stream_, &graph));
    cudaGraphExec_t executable;
    Check(cudaGraphInstantiate(&executable, graph, 0));
    const Times times = Of(calls, [&] { Check(cudaGraphLaunch(executable, stream_)); });
    Check(cudaGraphExecDestroy(executable));
    Check(cudaGraphDestroy(graph));
    return times;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_, end_;
};

struct Rates {
  double fill, copy;  // bytes a second; a copy counts what it reads and writes
};

Rates MeasureRates(Timer& timer) {
  constexpr size_t kBytes = size_t{1} << 30;
  void *a, *b;
  Check(cudaMalloc(&a, kBytes));
  Check(cudaMalloc(&b, kBytes));
  const Times fill = timer.Of(1, [&] { Check(cudaMemsetAsync(a, 1, kBytes, timer.stream())); });
  const Times copy = timer.Of(
      1, [&] { Check(cudaMemcpyAsync(b, a, kBytes, cudaMemcpyDeviceToDevice, timer.stream())); });
  Check(cudaFree(a));
  Check(cudaFree(b));
  return {kBytes / fill.median, 2.0 * kBytes / copy.median};
}

std::vector<std::byte> AnswerOfTheProcessor(const Case& what) {
  const Handle handle("cpu");
  Require(detopsSetDevice("cpu"));
  const auto problem = what.make({"cpu", 1});
  problem->Poison();
  Require(problem->Run(handle, 0));
  return problem->Result();
}

struct Record {
  const Case* what;
  Times graph, plain;
  double limit;  // seconds that the bytes take at the least
};

Record Measure(const Case& what, Timer& timer, const Rates& rates, double cache_bytes) {
  const std::vector<std::byte> answer = AnswerOfTheProcessor(what);
  Require(detopsSetDevice("cuda"));
  const Handle handle("cuda");
  cnrtQueue_t queue;
  Require(detopsQueueFromStream(&queue, detopsGetDevice(handle), timer.stream()));
  Require(mluOpSetQueue(handle, queue));
  // Several sets of data in turn, so that large inputs come from memory.
  const int64_t sets =
      what.report.bytes < 1e6 ? 1 : 1 + static_cast<int64_t>(2 * cache_bytes / what.report.bytes);
  const auto problem = what.make({"cuda", sets});
  problem->Poison();
  Require(problem->Run(handle, 0));
  Check(cudaStreamSynchronize(timer.stream()));
  const std::vector<std::byte> result = problem->Result();
  const auto differs = std::mismatch(result.begin(), result.end(), answer.begin()).first;
  if (differs != result.end()) {
    throw std::runtime_error("result differs from the processor's at byte " +
                             std::to_string(differs - result.begin()));
  }

  const auto call = [&](int64_t i) { Require(problem->Run(handle, i % sets)); };
  const double once = timer.Once([&] { call(0); });
  const int64_t calls = std::clamp<int64_t>(static_cast<int64_t>(2e-3 / once), 1, 64);
  Record record = {&what, {}, {}, 0};
  record.graph = timer.OfGraph(calls, call);
  record.plain = timer.Of(calls, [&] {
    for (int64_t i = 0; i < calls; ++i) call(i);
  });
  record.limit = what.floor.bytes / (what.traffic == Traffic::kFill ? rates.fill : rates.copy);
  Require(mluOpSetQueue(handle, nullptr));
  cnrtQueueDestroy(queue);
  return record;
}

void WriteJson(const std::string& file, const cudaDeviceProp& device, const Rates& rates,
               const std::vector<Record>& records) {
  std::FILE* out = std::fopen(file.c_str(), "w");
  if (out == nullptr) throw std::runtime_error("can't write " + file);
  std::fprintf(out, "{\n  \"device\": \"%s\",\n  \"fill_gbps\": %.6g,\n  \"copy_gbps\": %.6g,\n",
               device.name, rates.fill * 1e-9, rates.copy * 1e-9);
  std::fprintf(out, "  \"cases\": [");
  for (size_t i = 0; i < records.size(); ++i) {
    const Record& r = records[i];
    std::fprintf(out,
                 "%s\n    {\"op\": \"%s\", \"case\": \"%s\", \"dims\": \"%s\", \"size\": %lld, "
                 "\"us\": %.6g, \"min_us\": %.6g, \"max_us\": %.6g, \"plain_us\": %.6g, "
                 "\"bytes\": %.6g, \"limit_us\": %.6g}",
                 i == 0 ? "" : ",", r.what->op.c_str(), r.what->name.c_str(), r.what->dims.c_str(),
                 static_cast<long long>(r.what->size), r.graph.median * 1e6, r.graph.min * 1e6,
                 r.graph.max * 1e6, r.plain.median * 1e6, r.what->report.bytes, r.limit * 1e6);
  }
  std::fprintf(out, "\n  ]\n}\n");
  std::fclose(out);
}

int Run(int argc, char** argv) {
  std::string json;
  std::regex filter(".*");
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
    } else if (std::strcmp(argv[i], "--filter") == 0 && i + 1 < argc) {
      filter = argv[++i];
    } else {
      std::puts("bench_cuda [--json FILE] [--filter REGEX]   (of operator/case)");
      return 2;
    }
  }
  Require(detopsSetDevice("cuda"));
  cudaDeviceProp device;
  Check(cudaGetDeviceProperties(&device, 0));
  Timer timer;
  const Rates rates = MeasureRates(timer);
  std::printf("%s: fills %.0f GB/s, copies %.0f GB/s\n", device.name, rates.fill * 1e-9,
              rates.copy * 1e-9);
  std::printf("%-46s %10s %10s %10s %8s\n", "operator/case", "graph us", "plain us", "bytes' us",
              "share");
  std::vector<Record> records;
  bool failed = false;
  const std::vector<Case> cases = AllCases();
  for (const Case& what : cases) {
    const std::string name = what.op + "/" + what.name;
    if (!std::regex_search(name, filter)) continue;
    try {
      const Record r = Measure(what, timer, rates, device.l2CacheSize);
      std::printf("%-46s %10.2f %10.2f %10.2f %7.0f%%\n", name.c_str(), r.graph.median * 1e6,
                  r.plain.median * 1e6, r.limit * 1e6, 100 * r.limit / r.graph.median);
      records.push_back(r);
    } catch (const std::exception& e) {
      std::printf("%-46s %s\n", name.c_str(), e.what());
      failed = true;
    }
    std::fflush(stdout);
  }
  if (!json.empty()) WriteJson(json, device, rates, records);
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace detops::bench

int main(int argc, char** argv) {
  try {
    return detops::bench::Run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_cuda: %s\n", e.what());
    return 1;
  }
}
