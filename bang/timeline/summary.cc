// SPDX-License-Identifier: Apache-2.0
#include "timeline/summary.h"

#include <stdarg.h>
#include <stdio.h>

#include "timeline/figures.h"

namespace bang {
namespace {

__attribute__((format(printf, 1, 2))) std::string Text(const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);  // NOLINT(clang-analyzer-valist.Uninitialized)
  va_end(arguments);
  return text;
}

std::string Share(const char* name, double share) {
  return Text("%s %.1f %%   ", name, share * 100);
}

// A line: its name, then what it says.
std::string Line(const char* name, std::string text) {
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return Text("  %-11s", name) + text + "\n";
}

}  // namespace

std::string TasksText(const LaunchRecord& launch) {
  const char* plural = launch.tasks == 1 ? "" : "s";
  const auto tasks = static_cast<long long>(launch.tasks);
  if (launch.union_clusters == 0) return Text("%lld BLOCK task%s", tasks, plural);
  return Text("%lld task%s as UNION%d", tasks, plural, launch.union_clusters);
}

std::string BytesText(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  for (; bytes >= 1000 && unit < 4; ++unit) bytes /= 1000;
  return Text(unit == 0 ? "%.0f %s" : "%.2f %s", bytes, units[unit]);
}

std::string SiteText(const CallSite& site) {
  std::string name = site.name ? site.name : "scalar code";
  if (!site.file) return name;
  return name + ", " + site.file + ":" + std::to_string(site.line);
}

std::string Summary(const LaunchRecord& launch, const Timeline& timeline, const Card& card) {
  const Figures f = FiguresOf(timeline, card);
  const auto wait = [&](const char* name, Wait kind) {
    return Share(name, f.waits[static_cast<int>(kind)]);
  };
  std::string text = launch.kernel +
                     Text(" (%s:%d): ", launch.file ? launch.file : "?", launch.line) +
                     TasksText(launch) + " on " + card.name + " (simulated)\n";
  text += Line("time",
               Text("%.3f us, %lld cycles at %g GHz", f.microseconds,
                    static_cast<long long>(f.cycles), static_cast<double>(card.clock_khz) / 1e6));
  text +=
      Line("cores", Text("%d of %d had a task; shares are of their time", f.cores_used, f.cores));
  text += Line("busy", Share("scalar", f.busy[0]) + Share("IO", f.busy[1]) +
                           Share("Move", f.busy[2]) + Share("Compute", f.busy[3]));
  text += Line("waits", wait("for IO", Wait::kIo) + wait("Move", Wait::kMove) +
                            wait("Compute", Wait::kCompute) + wait("barriers", Wait::kBarrier) +
                            wait("full queues", Wait::kQueue) + Share("without a task", f.no_task));
  text += Line("of pipes", wait("waited for results", Wait::kDependence) +
                               wait("copies slowed by others", Wait::kBandwidth));
  text += Line("bytes", BytesText(static_cast<double>(f.sum.gdram_read)) + " read from GDRAM, " +
                            BytesText(static_cast<double>(f.sum.gdram_written)) + " written, " +
                            BytesText(static_cast<double>(f.sum.sram_bytes)) + " to and from SRAM");
  text += Line("vectors", Text("%lld of %.0f bytes on average, %lld operations",
                               static_cast<long long>(f.sum.vector_instructions),
                               static_cast<double>(f.sum.vector_bytes) /
                                   static_cast<double>(f.sum.vector_instructions +
                                                       (f.sum.vector_instructions == 0)),
                               static_cast<long long>(f.sum.operations)));
  text += Line("efficiency", Share("IO", f.io_efficiency) + Share("compute", f.compute_efficiency) +
                                 Text("(GDRAM moved %.1f %% of what it can)", f.memory_use * 100));
  text += Line("bottleneck", f.bottleneck);
  const double all = f.unit_cycles;
  for (uint32_t i : WorstSites(timeline, 5)) {
    const SiteCounters& site = timeline.sites[i];
    text += Line("line", Text("%5.1f %% busy  %5.1f %% waiting  ",
                              static_cast<double>(site.busy) / all * 100,
                              static_cast<double>(site.waited) / all * 100) +
                             (i < launch.sites.size() ? SiteText(launch.sites[i]) : "?"));
  }
  return text;
}

}  // namespace bang
