// SPDX-License-Identifier: Apache-2.0
#include "machine/launch_report.h"

#include <stdio.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "machine/options.h"
#include "timeline/drawn_launch.h"
#include "timeline/summary.h"
#include "timeline/write_timeline.h"

namespace bang {
namespace {

// The program's launches so far, for one file when it ends.
class TimelineFile {
 public:
  void Add(DrawnLaunch launch) {
    std::lock_guard lock(mutex_);
    AddLaunch(std::move(launch), &launches_);
  }
  ~TimelineFile() {
    std::string error;
    if (launches_.empty() || WriteTimeline(GetOptions().timeline, launches_, &error)) return;
    fprintf(stderr, "bang: %s\n", error.c_str());
  }

 private:
  std::mutex mutex_;
  std::vector<DrawnLaunch> launches_;
};

}  // namespace

void PrintOutput(const LaunchState& launch) {
  const int64_t last = std::min(launch.first_failed.load(), launch.units - 1);
  for (int64_t unit = 0; unit <= last; ++unit) {
    const std::string& text = launch.results[unit].output;
    fwrite(text.data(), 1, text.size(), stdout);
  }
}

std::string PrintRemarks(const LaunchState& launch) {
  const int64_t last = std::min(launch.first_failed.load(), launch.units - 1);
  std::map<std::string, int64_t> times;
  std::vector<const std::string*> order;
  for (int64_t unit = 0; unit <= last; ++unit) {
    for (const Remark& remark : launch.results[unit].remarks) {
      const auto [at, fresh] = times.try_emplace(remark.text, 0);
      at->second += remark.times;
      if (fresh) order.push_back(&at->first);
    }
  }
  for (const std::string* text : order) {
    const int64_t count = times[*text];
    fprintf(stderr, "%s", text->c_str());
    if (count > 1) fprintf(stderr, " (%lld times)", static_cast<long long>(count));
    fprintf(stderr, "; kernel %s\n", launch.kernel.name);
  }
  return order.empty() ? "" : *order.front();
}

void ReportTime(const LaunchRecord& record, const Timeline& timeline, const Card& card) {
  if (GetOptions().summary) {
    const std::string text = Summary(record, timeline, card);
    fwrite(text.data(), 1, text.size(), stderr);
  }
  if (!GetOptions().timeline.empty()) {
    static TimelineFile file;
    file.Add(DrawLaunch(record, timeline, card));
  }
}

}  // namespace bang
