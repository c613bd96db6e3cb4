// SPDX-License-Identifier: Apache-2.0
#include "machine/races.h"
#include "machine/task_races.h"

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


// Random tasks, compared byte by byte.
TEST(TaskRaces, AreThoseOfThePlainWay) {
  std::mt19937 random(3);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  alignas(64) static char memory[512];
  int races = 0, equal_stores = 0;
  for (int round = 0; round < 3000; ++round) {
    constexpr int kTasks = 5;
    const int highest = pick(1, 3), bound = pick(40, 480);
    bang::GdramAccesses notes[kTasks];
    bang::StoredBytes stored;
    std::vector<std::vector<bool>> loads(kTasks, std::vector<bool>(512)), stores = loads;
    std::vector<bool> known(512), changed(512);
    for (int step = pick(1, 12); step > 0; --step) {
      const int task = pick(0, kTasks - 1), begin = pick(0, bound - 1);
      const int bytes = std::min(pick(1, 40), bound - begin), value = pick(1, highest);
      if (pick(0, 1) == 0) {
        notes[task].Load(task, memory + begin, bytes, {"load", {"f", step}, nullptr});
        bool own = true;
        for (int i = begin; i < begin + bytes; ++i) own = own && stores[task][i];
        for (int i = begin; i < begin + bytes; ++i) loads[task][i] = loads[task][i] || !own;
        continue;
      }
      notes[task].Store(task, memory + begin, bytes, {"store", {"f", step}, nullptr});
      for (int i = begin; i < begin + bytes; ++i) {
        changed[i] = changed[i] || (known[i] && memory[i] != value);
        known[i] = stores[task][i] = true;
      }
      const std::vector<char> values(bytes, static_cast<char>(value));
      if (bytes <= 16 && pick(0, 1) == 0) {
        bang::StoredBytes::Scalar scalar;
        stored.Announce(memory + begin, bytes, &scalar);
        std::copy(values.begin(), values.end(), memory + begin);
        stored.Finish(&scalar);
      } else {
        stored.Store(memory + begin, values.data(), bytes);
      }
    }
    bool race = false, equal = false;
    for (int i = 0; i < 512; ++i) {
      for (int a = 0; a < kTasks; ++a) {
        for (int b = 0; b < kTasks; ++b) {
          if (a == b || !stores[b][i]) continue;
          race = race || loads[a][i] || (stores[a][i] && changed[i]);
          equal = equal || (stores[a][i] && !changed[i]);
        }
      }
    }
    std::vector<bang::GdramAccesses*> tasks;
    for (auto& note : notes) tasks.push_back(&note);
    std::vector<bang::EqualStores> told;
    const bang::TaskRace found = bang::FindTaskRace(tasks, &stored, &told);
    // Several own stores that cover a load together are not seen as such: the load counts.
    if (race != (found.later != nullptr)) {
      ASSERT_TRUE(found.later != nullptr && !(found.later_stores && found.earlier_stores)) << round;
      continue;
    }
    if (!race) {
      ASSERT_EQ(equal, !told.empty()) << round;
    }
    races += race;
    equal_stores += equal;
  }
  EXPECT_GT(races, 500);
  EXPECT_GT(equal_stores, 100);
}

// The host's memory has to last: then nothing is compared.
TEST(TaskRaces, GiveUpWhereThereAreTooMany) {
  static char memory[20000];
  bang::NotesLeft left;
  left.count = 4000;
  bang::GdramAccesses notes;
  notes.Limit(&left);
  for (int i = 0; i < 900; ++i) notes.Load(0, memory + 2 * i, 1, {"load", {"f", 1}, nullptr});
  EXPECT_FALSE(left.spent());
  for (int i = 0; i < 9000; ++i) notes.Load(0, memory + 2 * i, 1, {"load", {"f", 1}, nullptr});
  EXPECT_TRUE(left.spent());
  EXPECT_LT(notes.SortedLoads().size(), 9000u);
}

}  // namespace
