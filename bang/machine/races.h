// SPDX-License-Identifier: Apache-2.0
//
// Races between the cores of a union task: two of them touch a byte of SRAM or GDRAM, one writes,
// and no barrier or lock lies between. Each core counts its own steps from one barrier to the next
// (a vector clock); an access is known by its core and step.
#ifndef BANG_MACHINE_RACES_H_
#define BANG_MACHINE_RACES_H_

#include <stdint.h>

#include <map>
#include <string>
#include <vector>

#include "bang/where.h"

namespace bang {

class Races {
 public:
  explicit Races(int members) : clocks_(members, std::vector<int>(members, 0)) {
    for (int i = 0; i < members; ++i) clocks_[i][i] = 1;
  }

  struct Site {
    const char* name;  // the built-in; null: scalar code
    Where where;       // of scalar code: not yet known
    const void* code;  // of scalar code: its address
  };
  struct Race {
    int other;  // the member that came before
    bool other_writes;
    Site site;
    const char* address;  // of the first byte in question
    bool harmless;        // all of it is stores of what is there already
  };
  // Member `member` touches [data, data + bytes). Returns whether that is a race, and with what.
  // `stored`: the bytes that a store brings; null: not known, or a load.
  bool Access(int member, const char* data, int64_t bytes, bool writes, const char* stored,
              const Site& site, Race* race);

  // A barrier of these members. `all`: of all that have not ended; what was before is forgotten.
  void Meet(const std::vector<int>& members, bool all);
  void Release(int member, std::vector<int>* lock);  // what follows a later Acquire of the lock
  void Acquire(int member, const std::vector<int>& lock);

 private:
  struct Step {
    int member;
    int step;
    Site site;
  };
  struct Cell {
    const char* end;
    bool written = false;
    Step write{};
    std::vector<Step> reads;  // at most one per member
  };
  bool Before(const Step& step, int member) const {
    return step.member == member || step.step <= clocks_[member][step.member];
  }
  // Whether an access that comes now conflicts with those of the cell, and with what.
  bool Conflicts(const Cell& cell, int member, bool writes, Race* race) const;
  void SplitAt(const char* address);
  void Note(Cell* cell, int member, bool writes, const Site& site);

  std::vector<std::vector<int>> clocks_;
  std::map<const char*, Cell> cells_;
};

}  // namespace bang

#endif  // BANG_MACHINE_RACES_H_
