// SPDX-License-Identifier: Apache-2.0
#include "machine/in_flight.h"

#include <algorithm>

#include "machine/failure.h"

namespace bang {
namespace {

const char* SyncOf(Pipe pipe) {
  switch (pipe) {
    case Pipe::kIo:
      return "__sync_io()";
    case Pipe::kMove:
      return "__sync_move()";
    default:
      return "__sync_compute()";
  }
}

unsigned BitOf(Pipe pipe) { return pipe == Pipe::kIo ? kIoBit : kMoveBit; }

std::string Text(const char* doing, const char* name, Where where, Pipe pipe) {
  return Format("%s by %s at %s; put %s (or __sync()) between the two", doing, name,
                At(where).c_str(), SyncOf(pipe));
}

}  // namespace

std::string InFlight::Conflict(const Access& access, const Region& region) const {
  for (const PendingCopy& copy : copies_) {
    if (copy.pipe == access.pipe) continue;  // a pipe keeps its order
    if (Overlap(region, copy.dst)) {
      return Text(access.writes ? "would be overwritten while it is still being written"
                                : "is used while it is still being written",
                  copy.name, copy.where, copy.pipe);
    }
    if (access.writes && Overlap(region, copy.src)) {
      return Text("is overwritten while it is still being read", copy.name, copy.where, copy.pipe);
    }
  }
  if (!access.async || access.pipe == Pipe::kCompute) return "";
  const char* const end = region.end();
  for (size_t i = computed_.size(); i-- > 0;) {
    const Computed& operand = computed_[i];
    if (end <= operand.begin || operand.end <= region.begin) continue;
    if (!operand.written && !access.writes) continue;
    if (!Overlap(region, Contiguous(operand.begin, operand.end - operand.begin))) continue;
    return Text(operand.written ? "is used while it may still be being computed"
                                : "is overwritten while it may still be being read",
                operand.name, operand.where, Pipe::kCompute);
  }
  return "";
}

bool InFlight::TouchesCompute(const Region& region, bool writes) const {
  const char* const end = region.end();
  for (const Computed& operand : computed_) {
    if (region.begin < operand.end && operand.begin < end && (operand.written || writes)) {
      return true;
    }
  }
  return false;
}

std::vector<PendingCopy> InFlight::TakeCopies(unsigned pipes) {
  std::vector<PendingCopy> taken;
  const auto keep = std::stable_partition(copies_.begin(), copies_.end(), [&](const auto& copy) {
    return (BitOf(copy.pipe) & pipes) == 0;
  });
  taken.assign(keep, copies_.end());
  copies_.erase(keep, copies_.end());
  return taken;
}

unsigned InFlight::PipesAt(const void* data, int64_t bytes) const {
  const Region region = Contiguous(data, bytes);
  unsigned pipes = 0;
  for (const PendingCopy& copy : copies_) {
    if (Overlap(region, copy.dst) || Overlap(region, copy.src)) pipes |= BitOf(copy.pipe);
  }
  return pipes;
}

void InFlight::AddCompute(const char* name, Where where, const char* data, int64_t bytes,
                          bool written) {
  // Loops come by with the same operands again and again.
  const size_t look_back = std::min<size_t>(computed_.size(), 8);
  for (size_t i = computed_.size() - look_back; i < computed_.size(); ++i) {
    Computed& operand = computed_[i];
    if (operand.begin == data && operand.end == data + bytes && operand.written == written) {
      operand.name = name;
      operand.where = where;
      return;
    }
  }
  if (computed_.size() >= compact_at_) Compact();
  computed_.push_back({name, where, data, data + bytes, written});
}

// Neighbours and overlapping ones become one; of the texts the later survives.
void InFlight::Compact() {
  std::stable_sort(computed_.begin(), computed_.end(), [](const auto& a, const auto& b) {
    return a.written != b.written ? a.written < b.written : a.begin < b.begin;
  });
  size_t last = 0;
  for (size_t i = 1; i < computed_.size(); ++i) {
    Computed& merged = computed_[last];
    const Computed& next = computed_[i];
    if (next.written == merged.written && next.begin <= merged.end) {
      merged.end = std::max(merged.end, next.end);
      merged.name = next.name;
      merged.where = next.where;
    } else {
      computed_[++last] = next;
    }
  }
  computed_.resize(last + 1);
  compact_at_ = std::max<size_t>(64, 2 * computed_.size());
}

}  // namespace bang
