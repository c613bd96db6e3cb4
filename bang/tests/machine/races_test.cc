// SPDX-License-Identifier: Apache-2.0
#include "machine/races.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

// The plain way: every access to every byte, with what its member knew then.
class PlainRaces {
 public:
  explicit PlainRaces(int members) : known_(members, std::vector<int>(members, 0)) {
    for (int i = 0; i < members; ++i) known_[i][i] = 1;
  }
  bool Access(int member, int begin, int bytes, bool writes) {
    bool race = false;
    for (const Entry& entry : entries_) {
      if (entry.begin >= begin + bytes || begin >= entry.begin + entry.bytes) continue;
      if (!entry.writes && !writes) continue;
      race |= entry.step > known_[member][entry.member];
    }
    entries_.push_back({member, known_[member][member], begin, bytes, writes});
    return race;
  }
  void Meet(const std::vector<int>& members) {
    std::vector<int> all(known_.size(), 0);
    for (int m : members) {
      for (size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], known_[m][i]);
    }
    for (int m : members) {
      known_[m] = all;
      ++known_[m][m];
    }
  }

 private:
  struct Entry {
    int member, step, begin, bytes;
    bool writes;
  };
  std::vector<std::vector<int>> known_;
  std::vector<Entry> entries_;
};

TEST(Races, AreThoseOfThePlainWay) {
  std::mt19937 random(2);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  static char memory[256];
  int races = 0;
  for (int round = 0; round < 3000; ++round) {
    constexpr int kMembers = 4;
    bang::Races checked(kMembers);
    PlainRaces plain(kMembers);
    for (int step = 0; step < 60; ++step) {
      if (pick(0, 3) == 0) {
        std::vector<int> members;
        const int first = pick(0, 1) * 2;
        const bool all = pick(0, 1) == 0;
        for (int m = all ? 0 : first; m < (all ? kMembers : first + 2); ++m) members.push_back(m);
        checked.Meet(members, all);
        plain.Meet(members);
        continue;
      }
      const int member = pick(0, kMembers - 1), begin = pick(0, 200), bytes = pick(1, 40);
      const bool writes = pick(0, 2) == 0;
      bang::Races::Race race;
      const bool found =
          checked.Access(member, memory + begin, bytes, writes, nullptr, {"x", {"f", 1}, nullptr}, &race);
      ASSERT_EQ(plain.Access(member, begin, bytes, writes), found) << round << " " << step;
      if (found) {
        ++races;
        break;
      }
    }
  }
  EXPECT_GT(races, 1000);
}

}  // namespace
