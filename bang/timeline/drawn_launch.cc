// SPDX-License-Identifier: Apache-2.0
#include "timeline/drawn_launch.h"

#include <algorithm>
#include <tuple>

#include "timeline/summary.h"

namespace bang {
namespace {

bool OnOneTrack(const Span& a, const Span& b) { return a.unit == b.unit && a.pipe == b.pipe; }

int64_t Length(const Span& span) { return span.end - span.begin; }

// Neighbours on a pipe that become one: work or waits, whichever is more.
class Joint {
 public:
  void Add(const DrawnSpan& next) {
    Part& part = parts_[next.span.wait != Wait::kNone];
    if (Length(next.span) > part.longest) {
      part.longest = Length(next.span);
      part.span = next.span;
    }
    part.busy += next.busy;
    if (count_ == 0) begin_ = next.span.begin;
    end_ = next.span.end;
    ready_ = next.span.ready;
    count_ += next.count;
  }
  bool empty() const { return count_ == 0; }
  int64_t begin() const { return begin_; }
  const Span& any() const { return parts_[parts_[0].busy == 0].span; }
  DrawnSpan Make() const {
    const Part& part = parts_[parts_[1].busy > parts_[0].busy];
    DrawnSpan joined{part.span, count_, part.busy};
    joined.span.begin = begin_;
    joined.span.end = end_;
    joined.span.ready = ready_;
    return joined;
  }

 private:
  struct Part {
    Span span = {};
    int64_t longest = 0, busy = 0;
  };
  Part parts_[2];
  int64_t begin_ = 0, end_ = 0, ready_ = 0, count_ = 0;
};

// Joins spans after `from` with their neighbours of the pipe, to no more than `cell` cycles.
std::vector<DrawnSpan> Join(const std::vector<DrawnSpan>& spans, int64_t from, int64_t cell) {
  std::vector<DrawnSpan> joined;
  Joint joint;
  for (const DrawnSpan& next : spans) {
    const bool near = !joint.empty() && OnOneTrack(joint.any(), next.span) &&
                      joint.begin() >= from && next.span.end - joint.begin() <= cell;
    if (!near && !joint.empty()) {
      joined.push_back(joint.Make());
      joint = Joint();
    }
    joint.Add(next);
  }
  if (!joint.empty()) joined.push_back(joint.Make());
  return joined;
}

}  // namespace

DrawnLaunch DrawLaunch(const LaunchRecord& launch, const Timeline& timeline, const Card& card,
                       size_t most_spans) {
  DrawnLaunch drawn;
  drawn.kernel = launch.kernel;
  drawn.file = launch.file ? launch.file : "";
  drawn.line = launch.line;
  drawn.card = card.name;
  drawn.tasks = TasksText(launch);
  drawn.clock_khz = card.clock_khz;
  drawn.figures = FiguresOf(timeline, card);
  drawn.summary = Summary(launch, timeline, card);
  for (size_t i = 0; i < timeline.sites.size(); ++i) {
    const CallSite site = i < launch.sites.size() ? launch.sites[i] : CallSite{};
    drawn.sites.push_back(
        {site.name ? site.name : "", site.file ? site.file : "", site.line, timeline.sites[i]});
  }
  drawn.spans.reserve(timeline.spans.size());
  for (const Span& span : timeline.spans) drawn.spans.push_back({span, 1, Length(span)});
  std::stable_sort(drawn.spans.begin(), drawn.spans.end(),
                   [](const DrawnSpan& a, const DrawnSpan& b) {
                     return std::tie(a.span.unit, a.span.pipe, a.span.begin) <
                            std::tie(b.span.unit, b.span.pipe, b.span.begin);
                   });
  Thin(most_spans, &drawn);
  return drawn;
}

void Thin(size_t most_spans, DrawnLaunch* launch) {
  std::vector<DrawnSpan>& spans = launch->spans;
  if (spans.size() <= most_spans) return;
  std::vector<int64_t> begins;
  begins.reserve(spans.size());
  for (const DrawnSpan& span : spans) begins.push_back(span.span.begin);
  const auto middle = begins.begin() + static_cast<ptrdiff_t>(most_spans / 2);
  std::nth_element(begins.begin(), middle, begins.end());
  launch->thinned_from = *middle;
  const int64_t rest = std::max<int64_t>(launch->figures.cycles - launch->thinned_from, 1);
  for (int64_t cell = std::max<int64_t>(rest / 4096, 1);; cell *= 2) {
    std::vector<DrawnSpan> joined = Join(spans, launch->thinned_from, cell);
    if (joined.size() > most_spans && cell < rest) continue;
    spans = std::move(joined);
    return;
  }
}

void AddLaunch(DrawnLaunch launch, std::vector<DrawnLaunch>* launches) {
  launches->push_back(std::move(launch));
  size_t spans = 0;
  for (const DrawnLaunch& one : *launches) spans += one.spans.size();
  if (spans <= kMostSpans) return;
  // To half of it, so that this is not done for each launch.
  for (DrawnLaunch& one : *launches) {
    if (one.spans.size() > kMostSpans / 2 / launches->size()) {
      Thin(kMostSpans / 2 / launches->size(), &one);
      one.spans.shrink_to_fit();
    }
  }
}

}  // namespace bang
