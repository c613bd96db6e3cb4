// SPDX-License-Identifier: Apache-2.0
#include "machine/in_flight.h"

#include <algorithm>
#include <tuple>

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

std::string Text(const char* doing, const char* name, Where where, Pipe pipe) {
  return Format("%s by %s at %s; put %s (or __sync()) between the two", doing, name,
                At(where).c_str(), SyncOf(pipe));
}

// Whether a pipe may rely on what these pipes were told to wait for. Scalar code counts as waiting
// with any of them.
bool Waited(unsigned waited, Pipe pipe) {
  return pipe == Pipe::kScalar ? waited != 0 : (waited & InFlight::PipeBitOf(pipe)) != 0;
}

}  // namespace

unsigned InFlight::PipeBitOf(Pipe pipe) {
  switch (pipe) {
    case Pipe::kIo:
      return kIoBit;
    case Pipe::kMove:
      return kMoveBit;
    case Pipe::kCompute:
      return kComputeBit;
    default:
      return 0;
  }
}

std::string InFlight::Conflict(const Access& access, const Region& region) const {
  for (const PendingCopy& copy : copies_) {
    if (copy.pipe == access.pipe) continue;  // a pipe keeps its order
    if (Waited(copy.waited, access.pipe)) continue;
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
    if (Waited(operand.waited, access.pipe)) continue;
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
    if (operand.waited != 0) continue;
    if (region.begin < operand.end && operand.begin < end && (operand.written || writes)) {
      return true;
    }
  }
  return false;
}

void InFlight::Wait(unsigned producers, unsigned consumers) {
  for (PendingCopy& copy : copies_) {
    if ((PipeBitOf(copy.pipe) | copy.waited) & producers) copy.waited |= consumers;
  }
  for (Computed& operand : computed_) {
    if ((kComputeBit | operand.waited) & producers) operand.waited |= consumers;
  }
}

void InFlight::EndScope(const char* name, Space space, const void* data, int64_t bytes) {
  const Region region = Contiguous(data, bytes);
  for (PendingCopy& copy : copies_) {
    for (Region* side : {&copy.dst, &copy.src}) {
      if (!Overlap(region, *side)) continue;
      *side = Region{};
      copy.ended = name;
      copy.ended_space = space;
    }
  }
}

const PendingCopy* InFlight::Ended(Space space) const {
  for (const PendingCopy& copy : copies_) {
    if (copy.ended != nullptr && copy.ended_space == space) return &copy;
  }
  return nullptr;
}

std::vector<PendingCopy> InFlight::TakeCopies(unsigned pipes) {
  std::vector<PendingCopy> taken;
  const auto keep = std::stable_partition(copies_.begin(), copies_.end(), [&](const auto& copy) {
    return ((PipeBitOf(copy.pipe) | copy.waited) & pipes) == 0;
  });
  taken.assign(keep, copies_.end());
  copies_.erase(keep, copies_.end());
  std::erase_if(computed_, [&](const Computed& operand) { return (operand.waited & pipes) != 0; });
  return taken;
}

unsigned InFlight::PipesAt(const void* data, int64_t bytes) const {
  const Region region = Contiguous(data, bytes);
  unsigned pipes = 0;
  for (const PendingCopy& copy : copies_) {
    if (Overlap(region, copy.dst) || Overlap(region, copy.src)) pipes |= PipeBitOf(copy.pipe);
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
      operand.waited = 0;
      return;
    }
  }
  if (computed_.size() >= compact_at_) Compact();
  computed_.push_back({name, where, data, data + bytes, written});
}

// Neighbours and overlapping ones become one; of the texts the later survives.
void InFlight::Compact() {
  std::stable_sort(computed_.begin(), computed_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.written, a.waited, a.begin) < std::tie(b.written, b.waited, b.begin);
  });
  size_t last = 0;
  for (size_t i = 1; i < computed_.size(); ++i) {
    Computed& merged = computed_[last];
    const Computed& next = computed_[i];
    if (next.written == merged.written && next.waited == merged.waited &&
        next.begin <= merged.end) {
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
