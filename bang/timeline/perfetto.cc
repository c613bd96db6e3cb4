// SPDX-License-Identifier: Apache-2.0
//
// The trace format of chrome://tracing, which Perfetto opens: a process per core, a thread per
// pipe, and a process of the launches on top.
#include <set>

#include "timeline/json.h"
#include "timeline/names.h"
#include "timeline/write_timeline.h"

namespace bang {
namespace {

std::string UnitName(int unit) {
  const int core = unit % kUnitsPerCluster;
  return std::string("cluster ") + std::to_string(unit / kUnitsPerCluster) +
         (core == kCoresPerCluster ? " MPU" : " core " + std::to_string(core));
}

std::string Metadata(const char* what, int process, int thread, const std::string& key,
                     const std::string& value) {
  return std::string(R"({"ph":"M","name":")") + what + R"(","pid":)" + std::to_string(process) +
         R"(,"tid":)" + std::to_string(thread) + R"(,"args":{")" + key + "\":" + value + "}},\n";
}

std::string Complete(const std::string& name, int process, int thread, double begin, double length,
                     const std::string& arguments) {
  return R"({"ph":"X","name":)" + JsonString(name) + R"(,"pid":)" + std::to_string(process) +
         R"(,"tid":)" + std::to_string(thread) + R"(,"ts":)" + JsonNumber(begin, 4) + R"(,"dur":)" +
         JsonNumber(length, 4) + R"(,"args":{)" + arguments + "}},\n";
}

std::string SpanName(const DrawnSpan& drawn, const DrawnLaunch& launch) {
  const Span& span = drawn.span;
  std::string name = span.wait != Wait::kNone     ? kWaitNames[static_cast<int>(span.wait)]
                     : span.pipe == Pipe::kScalar ? "scalar code"
                                                  : launch.sites[span.site].name;
  if (drawn.count > 1) name += std::string(" and ") + std::to_string(drawn.count - 1) + " more";
  return name;
}

std::string Arguments(const DrawnSpan& drawn, const DrawnLaunch& launch) {
  const Span& span = drawn.span;
  const DrawnSite& site = launch.sites[span.site];
  std::string arguments = std::string("\"task\":") + std::to_string(span.task) +
                          ",\"cycles\":" + std::to_string(drawn.busy);
  if (!site.file.empty()) {
    arguments += std::string(",\"at\":") +
                 JsonString(site.file + ":" + std::to_string(site.line) + " " + site.name);
  }
  if (span.bytes) arguments += std::string(",\"bytes\":") + std::to_string(span.bytes);
  if (span.alone) arguments += std::string(",\"cycles alone\":") + std::to_string(span.alone);
  if (span.copy) {
    arguments += std::string(",\"copy\":\"") + kSpaceNames[static_cast<int>(span.from)] + " to " +
                 kSpaceNames[static_cast<int>(span.to)] + '"';
  }
  return arguments;
}

}  // namespace

std::string PerfettoTrace(const std::vector<DrawnLaunch>& launches) {
  std::string json = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  std::set<std::pair<int, int>> tracks;
  double offset = 0;
  for (const DrawnLaunch& launch : launches) {
    const double us = 1e3 / static_cast<double>(launch.clock_khz);
    json += Complete(launch.kernel, 0, 0, offset, launch.figures.microseconds,
                     "\"launch\":" + JsonString(launch.summary));
    for (const DrawnSpan& drawn : launch.spans) {
      const Span& span = drawn.span;
      const int process = span.unit + 1, thread = static_cast<int>(span.pipe);
      tracks.insert({process, thread});
      json += Complete(SpanName(drawn, launch), process, thread,
                       offset + static_cast<double>(span.begin) * us,
                       static_cast<double>(span.end - span.begin) * us, Arguments(drawn, launch));
    }
    offset += launch.figures.microseconds;
  }
  int named = -1;
  for (const auto& [process, thread] : tracks) {
    if (process != named) {
      json += Metadata("process_name", process, 0, "name", JsonString(UnitName(process - 1)));
      json += Metadata("process_sort_index", process, 0, "sort_index", std::to_string(process));
      named = process;
    }
    json += Metadata("thread_name", process, thread, "name", JsonString(kPipeNames[thread]));
    json += Metadata("thread_sort_index", process, thread, "sort_index", std::to_string(thread));
  }
  json += Metadata("process_name", 0, 0, "name", "\"launches\"");
  json.erase(json.size() - 2);  // the last comma
  return json + "\n]}\n";
}

}  // namespace bang
