// SPDX-License-Identifier: Apache-2.0
//
// The page: what lies in page/, and the launches as JSON in it. page/model.js reads it.
#include "timeline/json.h"
#include "timeline/names.h"
#include "timeline/write_timeline.h"

namespace bang {

extern const char* const kPageFiles[];  // page.html, page.css, and the scripts

namespace {

template <size_t n>
std::string Shares(const double (&shares)[n]) {
  std::string json = "[";
  for (size_t i = 0; i < n; ++i) json += std::string(i ? "," : "") + JsonNumber(shares[i], 5);
  return json + "]";
}

template <size_t n>
std::string Names(const char* const (&names)[n]) {
  std::string json = "[";
  for (size_t i = 0; i < n; ++i) json += std::string(i ? "," : "") + JsonString(names[i]);
  return json + "]";
}

std::string Figure(const char* name, const std::string& value) {
  return std::string(",\"") + name + "\":" + value;
}

std::string SitesJson(const std::vector<DrawnSite>& sites) {
  std::string json = "[";
  for (const DrawnSite& site : sites) {
    const SiteCounters& c = site.counters;
    if (json.size() > 1) json += ',';
    json += '[' + JsonString(site.name) + ',' + JsonString(site.file);
    for (int64_t number : {static_cast<int64_t>(site.line), c.count, c.busy, c.waited, c.bytes}) {
      json += ',';
      json += std::to_string(number);
    }
    json += "]";
  }
  return json + "]";
}

// Tracks: unit, pipe, and a flat list of numbers per span. Begins count from the end before, so
// that they are short.
std::string TracksJson(const std::vector<DrawnSpan>& spans) {
  std::string json = "[";
  int unit = -1, pipe = -1;
  int64_t end = 0;
  for (const DrawnSpan& drawn : spans) {
    const Span& span = drawn.span;
    if (span.unit != unit || static_cast<int>(span.pipe) != pipe) {
      if (unit >= 0) json += "]},";
      unit = span.unit;
      pipe = static_cast<int>(span.pipe);
      end = 0;
      json += std::string("{\"unit\":") + std::to_string(unit) +
              ",\"pipe\":" + std::to_string(pipe) + ",\"spans\":[";
    } else {
      json += ',';
    }
    const int64_t route =
        span.copy ? 1 + static_cast<int64_t>(span.from) * 5 + static_cast<int64_t>(span.to) : 0;
    json += std::to_string(span.begin - end);
    for (int64_t number :
         {span.end - span.begin, span.ready - span.end, static_cast<int64_t>(span.wait),
          static_cast<int64_t>(span.site), static_cast<int64_t>(span.task), span.bytes, span.alone,
          route, drawn.count, drawn.busy}) {
      json += ',';
      json += std::to_string(number);
    }
    end = span.end;
  }
  return json + (unit >= 0 ? "]}]" : "]");
}

std::string LaunchJson(const DrawnLaunch& launch) {
  const Figures& f = launch.figures;
  std::string json = std::string("{\"kernel\":") + JsonString(launch.kernel);
  json += Figure("file", JsonString(launch.file)) + Figure("line", std::to_string(launch.line));
  json += Figure("card", JsonString(launch.card)) + Figure("tasks", JsonString(launch.tasks));
  json += Figure("khz", std::to_string(launch.clock_khz));
  json += Figure("cycles", std::to_string(f.cycles)) +
          Figure("unitCycles", JsonNumber(f.unit_cycles, 0)) +
          Figure("coresUsed", std::to_string(f.cores_used)) +
          Figure("cores", std::to_string(f.cores));
  json += Figure("busy", Shares(f.busy)) + Figure("waits", Shares(f.waits)) +
          Figure("noTask", JsonNumber(f.no_task, 5));
  json += Figure("read", std::to_string(f.sum.gdram_read)) +
          Figure("written", std::to_string(f.sum.gdram_written)) +
          Figure("operations", std::to_string(f.sum.operations));
  json += Figure("io", JsonNumber(f.io_efficiency, 5)) +
          Figure("compute", JsonNumber(f.compute_efficiency, 5)) +
          Figure("memory", JsonNumber(f.memory_use, 5));
  json += Figure("bottleneck", JsonString(f.bottleneck));
  json += Figure("thinnedFrom", std::to_string(launch.thinned_from));
  json += Figure("sites", SitesJson(launch.sites)) + Figure("tracks", TracksJson(launch.spans));
  return json + "}";
}

}  // namespace

std::string TimelinePage(const std::vector<DrawnLaunch>& launches) {
  std::string data = std::string("{\"unitsPerCluster\":") + std::to_string(kUnitsPerCluster);
  data += Figure("pipes", Names(kPipeNames)) + Figure("waits", Names(kWaitNames)) +
          Figure("spaces", Names(kSpaceNames)) + ",\"launches\":[";
  for (size_t i = 0; i < launches.size(); ++i)
    data += std::string(i ? ",\n" : "\n") + LaunchJson(launches[i]);
  data += "]}";

  std::string scripts;
  for (const char* const* script = kPageFiles + 2; *script; ++script) scripts += *script;
  std::string page = kPageFiles[0];
  const auto put = [&](const std::string& mark, const std::string& text) {
    page.replace(page.find(mark), mark.size(), text);
  };
  put("/*style*/", kPageFiles[1]);
  put("/*scripts*/", scripts);
  put("/*data*/", data);
  return page;
}

}  // namespace bang
