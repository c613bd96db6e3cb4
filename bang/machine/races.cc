// SPDX-License-Identifier: Apache-2.0
#include "machine/races.h"

#include <string.h>

#include <algorithm>

namespace bang {

void Races::SplitAt(const char* address) {
  auto next = cells_.upper_bound(address);
  if (next == cells_.begin()) return;
  auto cell = std::prev(next);
  if (cell->first == address || cell->second.end <= address) return;
  Cell right = cell->second;
  cell->second.end = address;
  cells_.emplace_hint(next, address, std::move(right));
}

void Races::Note(Cell* cell, int member, bool writes, const Site& site) {
  const Step step{member, clocks_[member][member], site};
  if (writes) {
    cell->written = true;
    cell->write = step;
    cell->reads.clear();
    return;
  }
  for (Step& read : cell->reads) {
    if (read.member == member) {
      read = step;
      return;
    }
  }
  cell->reads.push_back(step);
}

bool Races::Conflicts(const Cell& cell, int member, bool writes, Race* race) const {
  if (cell.written && !Before(cell.write, member)) {
    *race = {cell.write.member, true, cell.write.site, nullptr, false};
    return true;
  }
  if (!writes) return false;
  for (const Step& read : cell.reads) {
    if (Before(read, member)) continue;
    *race = {read.member, false, read.site, nullptr, false};
    return true;
  }
  return false;
}

bool Races::Access(int member, const char* data, int64_t bytes, bool writes, const char* stored,
                   const Site& site, Race* race) {
  const char* const end = data + bytes;
  bool harmless = false;
  SplitAt(data);
  SplitAt(end);
  auto cell = cells_.lower_bound(data);
  const char* at = data;
  while (at < end) {
    if (cell == cells_.end() || cell->first > at) {
      const char* const gap_end = cell == cells_.end() ? end : std::min(end, cell->first);
      // Scalar loops go on where they were: one cell grows.
      auto before = cell == cells_.begin() ? cells_.end() : std::prev(cell);
      const auto continues = [&](const Cell& c) {
        const Step& step = writes ? c.write : (c.reads.empty() ? c.write : c.reads.back());
        return c.end == at && c.written == writes && c.reads.size() == (writes ? 0u : 1u) &&
               step.member == member && step.step == clocks_[member][member] &&
               step.site.code == site.code && step.site.where.line == site.where.line &&
               step.site.where.file == site.where.file;
      };
      if (before != cells_.end() && continues(before->second)) {
        before->second.end = gap_end;
      } else {
        Cell fresh{gap_end, false, {}, {}};
        Note(&fresh, member, writes, site);
        cells_.emplace_hint(cell, at, std::move(fresh));
      }
      at = gap_end;
      continue;
    }
    Cell& known = cell->second;
    Race found;
    if (Conflicts(known, member, writes, &found)) {
      found.address = at;
      found.harmless = stored != nullptr && memcmp(at, stored + (at - data), known.end - at) == 0;
      if (!harmless || !found.harmless) *race = found;
      if (!found.harmless) return true;
      harmless = true;
    }
    Note(&known, member, writes, site);
    at = known.end;
    ++cell;
  }
  return harmless;
}

void Races::Meet(const std::vector<int>& members, bool all) {
  std::vector<int> joined(clocks_.size(), 0);
  for (int member : members) {
    for (size_t i = 0; i < joined.size(); ++i) joined[i] = std::max(joined[i], clocks_[member][i]);
  }
  for (int member : members) {
    clocks_[member] = joined;
    ++clocks_[member][member];
  }
  if (all) cells_.clear();
}

void Races::Release(int member, std::vector<int>* lock) {
  *lock = clocks_[member];
  ++clocks_[member][member];
}

void Races::Acquire(int member, const std::vector<int>& lock) {
  for (size_t i = 0; i < lock.size(); ++i) {
    clocks_[member][i] = std::max(clocks_[member][i], lock[i]);
  }
}

}  // namespace bang
