// SPDX-License-Identifier: Apache-2.0
//
// The whole card: which core does which task, what the cores share, and the order of events.
#include "clock/clock.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

#include "clock/core.h"
#include "clock/shared_bandwidth.h"

namespace bang {
namespace {

struct Event {
  enum What : uint8_t { kCopyBegins, kBarrierOpens, kProgramEnds };
  int64_t time;
  int unit;
  What what;
  Pipe pipe;
  bool operator>(const Event& other) const {
    return std::tie(time, unit, what, pipe) >
           std::tie(other.time, other.unit, other.what, other.pipe);
  }
};

int64_t PerCycle(int64_t bytes_per_second, const Card& card) {
  const int64_t hertz = card.clock_khz * 1000;
  // In two steps, for the product would overflow.
  const int64_t whole = bytes_per_second / hertz, rest = bytes_per_second % hertz;
  return whole * SharedBandwidth::kFraction + rest * SharedBandwidth::kFraction / hertz;
}

class CardClock final : public SharedParts {
 public:
  CardClock(const LaunchRecord& launch, const Card& card, Detail detail, Timeline* timeline);
  void Run();

  void BeginCopy(int unit, Pipe pipe, int64_t time, const CopyCost& cost) override;
  int64_t CyclesAlone(const CopyCost& cost) const override;
  void Arrive(int unit, BarrierKind kind, int64_t time) override;
  void ProgramEnded(int unit, int64_t time) override;

 private:
  // Programs that run together: a BLOCK task, or a union task.
  struct Group {
    int running;             // programs that have not ended
    std::vector<int> units;  // of its programs, in their order
  };
  struct Barrier {
    std::vector<int> arrived;
    int64_t last = 0;
  };

  void Dispatch(int64_t time);
  void BeginGroup(int64_t time, const std::vector<int>& units);
  void Release(int unit, int64_t time);
  std::vector<int> Members(int unit, BarrierKind kind) const;
  SharedBandwidth& ChannelOf(Channel channel) {
    return channel == Channel::kGdram ? gdram_ : sram_;
  }

  const LaunchRecord& launch_;
  const Card& card_;
  Timeline& timeline_;
  std::vector<int64_t> cost_cycles_;
  SharedBandwidth gdram_, sram_;
  std::vector<Core> cores_;
  std::vector<CopyCost> copies_;  // that have yet to reach their channel, by unit and pipe
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events_;

  size_t next_program_ = 0;
  std::deque<Group> groups_;
  std::vector<Group*> group_of_;   // by unit
  std::vector<Barrier> barriers_;  // by the unit of the first member, and kind
  std::set<int> free_;             // BLOCK: places in order_; UNION: clusters
  std::vector<int> order_;         // BLOCK: the cores in the order in which they get tasks
  int64_t now_ = 0;
};

CardClock::CardClock(const LaunchRecord& launch, const Card& card, Detail detail,
                     Timeline* timeline)
    : launch_(launch),
      card_(card),
      timeline_(*timeline),
      gdram_(static_cast<int>(card.clusters),
             {.flow = PerCycle(card.gdram_core_bandwidth, card),
              .group = PerCycle(card.gdram_cluster_bandwidth, card),
              .total = PerCycle(card.gdram_bandwidth, card)}),
      sram_(static_cast<int>(card.clusters),
            {.flow = card.sram_core_bytes_per_cycle * SharedBandwidth::kFraction,
             .group = card.sram_cluster_bytes_per_cycle * SharedBandwidth::kFraction,
             .total =
                 card.clusters * card.sram_cluster_bytes_per_cycle * SharedBandwidth::kFraction}) {
  for (const std::string& kind : launch.costs) {
    const int64_t* cycles = card.FindCost(kind);
    cost_cycles_.push_back(cycles ? *cycles : 0);
  }
  const int clusters = static_cast<int>(card.clusters), units = clusters * kUnitsPerCluster;
  timeline_.units.resize(static_cast<size_t>(units));
  timeline_.sites.resize(std::max<size_t>(launch.sites.size(), 1));
  cores_.reserve(static_cast<size_t>(units));
  for (int unit = 0; unit < units; ++unit) {
    cores_.emplace_back(unit, card_, cost_cycles_, *this, detail, timeline_);
  }
  copies_.resize(static_cast<size_t>(units) * kPipeCount);
  group_of_.resize(static_cast<size_t>(units));
  barriers_.resize(static_cast<size_t>(units) * 4);
  if (launch.union_clusters > 0) {
    for (int cluster = 0; cluster < clusters; ++cluster) free_.insert(cluster);
    return;
  }
  for (int i = 0; i < clusters * kCoresPerCluster; ++i) {
    const int cluster = card.block_tasks_spread ? i % clusters : i / kCoresPerCluster;
    const int core = card.block_tasks_spread ? i / clusters : i % kCoresPerCluster;
    order_.push_back(cluster * kUnitsPerCluster + core);
    free_.insert(i);
  }
}

void CardClock::Run() {
  if (launch_.union_clusters > card_.clusters) {
    throw std::invalid_argument("a union task of more clusters than the card has");
  }
  now_ = card_.launch_cycles;
  Dispatch(now_);
  for (;;) {
    const int64_t event = events_.empty() ? kNever : events_.top().time;
    const int64_t end = std::min(gdram_.next_end(), sram_.next_end());
    now_ = std::min(event, end);
    if (now_ == kNever) break;
    if (end <= event) {
      const int flow = gdram_.next_end() == end ? gdram_.Finish() : sram_.Finish();
      cores_[flow / kPipeCount].CopyEnded(static_cast<Pipe>(flow % kPipeCount), now_);
      continue;
    }
    const Event e = events_.top();
    events_.pop();
    if (e.what == Event::kCopyBegins) {
      const int flow = e.unit * kPipeCount + static_cast<int>(e.pipe);
      const CopyCost& cost = copies_[flow];
      ChannelOf(cost.channel).Start(now_, e.unit / kUnitsPerCluster, cost.bytes, flow);
    } else if (e.what == Event::kBarrierOpens) {
      cores_[e.unit].BarrierOpened(now_);
    } else {
      Release(e.unit, now_);
    }
  }
  for (const Group& group : groups_) {
    if (group.running) throw std::invalid_argument("cores wait at a barrier that never opens");
  }
}

void CardClock::BeginCopy(int unit, Pipe pipe, int64_t time, const CopyCost& cost) {
  copies_[unit * kPipeCount + static_cast<int>(pipe)] = cost;
  events_.push({time, unit, Event::kCopyBegins, pipe});
}

int64_t CardClock::CyclesAlone(const CopyCost& cost) const {
  return (cost.channel == Channel::kGdram ? gdram_ : sram_).CyclesAlone(cost.bytes);
}

// The units of a barrier, the first of which stands for it.
std::vector<int> CardClock::Members(int unit, BarrierKind kind) const {
  std::vector<int> members;
  for (int other : group_of_[unit]->units) {
    const bool mpu = other % kUnitsPerCluster == kCoresPerCluster;
    const bool same_cluster = other / kUnitsPerCluster == unit / kUnitsPerCluster;
    const bool member = kind == BarrierKind::kIpus      ? !mpu
                        : kind == BarrierKind::kMpus    ? mpu
                        : kind == BarrierKind::kCluster ? same_cluster
                                                        : true;
    if (member) members.push_back(other);
  }
  return members;
}

void CardClock::Arrive(int unit, BarrierKind kind, int64_t time) {
  const std::vector<int> members = Members(unit, kind);
  Barrier& barrier = barriers_[static_cast<size_t>(members[0]) * 4 + static_cast<size_t>(kind)];
  barrier.arrived.push_back(unit);
  barrier.last = std::max(barrier.last, time);
  if (barrier.arrived.size() < members.size()) return;
  const bool one_cluster = members.front() / kUnitsPerCluster == members.back() / kUnitsPerCluster;
  const int64_t cost = members.size() == 1 ? 0
                       : one_cluster       ? card_.barrier_cluster
                                           : card_.barrier_union;
  for (int member : barrier.arrived) {
    events_.push({barrier.last + cost, member, Event::kBarrierOpens, Pipe::kScalar});
  }
  barrier.arrived.clear();
  barrier.last = 0;
}

void CardClock::ProgramEnded(int unit, int64_t time) {
  events_.push({time, unit, Event::kProgramEnds, Pipe::kScalar});
}

void CardClock::Release(int unit, int64_t time) {
  Group& group = *group_of_[unit];
  timeline_.cycles = std::max(timeline_.cycles, time);
  if (--group.running > 0) return;
  if (launch_.union_clusters == 0) {
    free_.insert(static_cast<int>(std::find(order_.begin(), order_.end(), unit) - order_.begin()));
  } else {
    for (size_t i = 0; i < group.units.size(); i += kUnitsPerCluster) {
      free_.insert(group.units[i] / kUnitsPerCluster);
    }
  }
  Dispatch(time);
}

// As many tasks as there is room for.
void CardClock::Dispatch(int64_t time) {
  const size_t needed = static_cast<size_t>(std::max(launch_.union_clusters, 1));
  while (next_program_ < launch_.programs.size() && free_.size() >= needed) {
    std::vector<int> units;
    for (size_t i = 0; i < needed; ++i) {
      const int place = *free_.begin();
      free_.erase(free_.begin());
      if (launch_.union_clusters == 0) {
        units.push_back(order_[place]);
        continue;
      }
      for (int u = 0; u < kUnitsPerCluster; ++u) units.push_back(place * kUnitsPerCluster + u);
    }
    BeginGroup(time + card_.task_start, units);
  }
}

void CardClock::BeginGroup(int64_t time, const std::vector<int>& units) {
  const size_t count = std::min<size_t>(std::max(launch_.programs_per_unit, 1),
                                        launch_.programs.size() - next_program_);
  if (count > units.size()) throw std::invalid_argument("more programs than cores");
  Group& group = groups_.emplace_back();
  group.running = static_cast<int>(count);
  group.units = units;
  for (size_t i = 0; i < count; ++i) group_of_[units[i]] = &group;
  for (size_t i = 0; i < count; ++i) {
    cores_[units[i]].Begin(launch_.programs[next_program_++], time);
  }
}

}  // namespace

Counters& Counters::operator+=(const Counters& other) {
  programs += other.programs;
  resident += other.resident;
  for (int i = 0; i < kPipeCount; ++i) busy[i] += other.busy[i];
  for (int i = 0; i < kWaitCount; ++i) waits[i] += other.waits[i];
  gdram_read += other.gdram_read;
  gdram_written += other.gdram_written;
  sram_bytes += other.sram_bytes;
  local_bytes += other.local_bytes;
  gdram_moved += other.gdram_moved;
  vector_instructions += other.vector_instructions;
  vector_bytes += other.vector_bytes;
  operations += other.operations;
  computed_bytes += other.computed_bytes;
  return *this;
}

Timeline RunClock(const LaunchRecord& launch, const Card& card, Detail detail) {
  Timeline timeline;
  timeline.cycles = card.launch_cycles;
  CardClock(launch, card, detail, &timeline).Run();
  return timeline;
}

}  // namespace bang
