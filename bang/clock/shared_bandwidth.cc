// SPDX-License-Identifier: Apache-2.0
#include "clock/shared_bandwidth.h"

#include <algorithm>

namespace bang {
namespace {

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

SharedBandwidth::SharedBandwidth(int groups, const Rates& rates)
    : rates_(rates), groups_(groups), groups_with_(1, groups) {}

void SharedBandwidth::Start(int64_t now, int group, int64_t bytes, int flow) {
  MoveTo(now);
  Group& g = groups_[group];
  const Flow added{g.served + bytes * kFraction, flow};
  // Of flows that end together the one that began first ends first.
  const auto later = [](const Flow& a, const Flow& b) { return a.end > b.end; };
  g.flows.insert(std::lower_bound(g.flows.begin(), g.flows.end(), added, later), added);
  if (groups_with_.size() <= g.flows.size()) groups_with_.push_back(0);
  --groups_with_[g.flows.size() - 1];
  ++groups_with_[g.flows.size()];
  ++flow_count_;
  ShareOut();
}

int SharedBandwidth::Finish() {
  MoveTo(next_end_);
  Group& g = groups_[next_group_];
  const int flow = g.flows.back().id;
  g.flows.pop_back();
  --groups_with_[g.flows.size() + 1];
  ++groups_with_[g.flows.size()];
  --flow_count_;
  ShareOut();
  return flow;
}

int64_t SharedBandwidth::CyclesAlone(int64_t bytes) const {
  return DivideUp(bytes * kFraction, std::min({rates_.flow, rates_.group, rates_.total}));
}

void SharedBandwidth::MoveTo(int64_t now) {
  for (Group& group : groups_) group.served += group.rate * (now - now_);
  now_ = now;
}

// The fuller a group, the less its flows can take. Those that can't take an equal share of what is
// there leave the rest to the others.
void SharedBandwidth::ShareOut() {
  int64_t left = rates_.total, flows = flow_count_;
  int64_t fair = kNever;
  size_t full = groups_with_.size();  // groups with as many flows or more take what they can
  for (size_t n = groups_with_.size() - 1; n > 0; --n) {
    if (groups_with_[n] == 0) continue;
    const int64_t most = std::min<int64_t>(rates_.flow, rates_.group / static_cast<int64_t>(n));
    fair = left / flows;
    if (most > fair) break;
    const int64_t count = static_cast<int64_t>(n) * groups_with_[n];
    left -= count * most;
    flows -= count;
    full = n;
  }
  fair = std::max<int64_t>(fair, 1);
  next_end_ = kNever;
  for (size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[i];
    const size_t n = group.flows.size();
    if (n == 0) {
      group.rate = 0;
      continue;
    }
    const int64_t most = std::min<int64_t>(rates_.flow, rates_.group / static_cast<int64_t>(n));
    group.rate = n >= full ? std::max<int64_t>(most, 1) : fair;
    const int64_t end =
        now_ + DivideUp(std::max<int64_t>(group.flows.back().end - group.served, 0), group.rate);
    if (end < next_end_) {
      next_end_ = end;
      next_group_ = static_cast<int>(i);
    }
  }
}

}  // namespace bang
