// SPDX-License-Identifier: Apache-2.0
//
// A memory whose bandwidth the flows of several groups share fairly: every flow gets the same, but
// no more than a flow alone can take, and a group's flows no more than the group's share. (The
// card's GDRAM, groups being clusters; the SRAMs, each its own group.)
//
// All numbers are integers, so results are the same everywhere: amounts in kFraction-ths of a byte,
// rates in those per cycle, rounded down; a flow ends with a whole cycle.
#ifndef BANG_CLOCK_SHARED_BANDWIDTH_H_
#define BANG_CLOCK_SHARED_BANDWIDTH_H_

#include <stdint.h>

#include <limits>
#include <vector>

namespace bang {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

class SharedBandwidth {
 public:
  static constexpr int64_t kFraction = 65536;

  // Rates in kFraction-ths of a byte per cycle.
  struct Rates {
    int64_t flow, group, total;
  };
  SharedBandwidth(int groups, const Rates& rates);

  // A flow of `bytes` begins. Calls come in the order of time.
  void Start(int64_t now, int group, int64_t bytes, int flow);
  int64_t next_end() const { return next_end_; }  // kNever: there is no flow
  int Finish();                                   // the flow that ends at next_end()
  // What a flow of `bytes` takes when it is alone.
  int64_t CyclesAlone(int64_t bytes) const;

 private:
  struct Flow {
    int64_t end;  // at this value of `served` of its group
    int id;
  };
  struct Group {
    std::vector<Flow> flows;  // the next to end is the last
    int64_t served = 0;       // what each flow got that has been there all the time
    int64_t rate = 0;         // of each flow
  };

  void MoveTo(int64_t now);
  void ShareOut();

  Rates rates_;
  std::vector<Group> groups_;
  std::vector<int> groups_with_;  // how many groups have this number of flows
  int flow_count_ = 0;
  int64_t now_ = 0;
  int64_t next_end_ = kNever;
  int next_group_ = 0;
};

}  // namespace bang

#endif  // BANG_CLOCK_SHARED_BANDWIDTH_H_
