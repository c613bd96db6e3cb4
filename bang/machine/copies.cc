// SPDX-License-Identifier: Apache-2.0
//
// __memcpy and __memcpy_async.
#include <string.h>

#include <algorithm>
#include <utility>

#include "bang/machine.h"
#include "clock/gdram_units.h"
#include "machine/directions.h"
#include "machine/options.h"
#include "machine/running_core.h"

namespace bang {
namespace {

constexpr int64_t kMaxCount = 65535;

std::string ShapeError(const CopyShape& shape) {
  if (shape.bytes <= 0) {
    return Format("size is %lld; a segment has at least one byte",
                  static_cast<long long>(shape.bytes));
  }
  for (const CopySide* side : {&shape.dst, &shape.src}) {
    const char* const which = side == &shape.dst ? "dst" : "src";
    for (int64_t count : {side->count1, side->count2}) {
      if (count < 0 || count > kMaxCount) {
        return Format("segnum of %s is %lld; expected the number of segments minus one, 0 to 65535",
                      which, static_cast<long long>(count));
      }
    }
  }
  const CopySide& dst = shape.dst;
  if (dst.count1 > 0 && dst.stride1 < shape.bytes) {
    return Format("dst_stride is %lld, less than the %lld bytes of a segment",
                  static_cast<long long>(dst.stride1), static_cast<long long>(shape.bytes));
  }
  if (dst.count2 > 0 && dst.stride2 < shape.bytes) {
    return Format("the outer stride of dst is %lld, less than the %lld bytes of a segment",
                  static_cast<long long>(dst.stride2), static_cast<long long>(shape.bytes));
  }
  if ((shape.src.count1 > 0 && shape.src.stride1 < 0) ||
      (shape.src.count2 > 0 && shape.src.stride2 < 0)) {
    return "src_stride is negative";
  }
  const int64_t written = (dst.count1 + 1) * (dst.count2 + 1);
  const int64_t read = (shape.src.count1 + 1) * (shape.src.count2 + 1);
  if (written != read) {
    return Format("dst has %lld segments, src %lld", static_cast<long long>(written),
                  static_cast<long long>(read));
  }
  return "";
}

// Several segments in one, where they follow one another without a gap.
Region Normal(const void* data, int64_t bytes, CopySide side) {
  if (side.count1 == 0) {
    side.stride1 = side.stride2;
    side.count1 = side.count2;
    side.stride2 = side.count2 = 0;
  }
  if (side.count1 == 0) side.stride1 = 0;
  if (side.count2 == 0) side.stride2 = 0;
  return {static_cast<const char*>(data), bytes, side};
}

// Variables of functions lie in NRAM, too: kernels copy them in and out, one by one.
bool IsIn(RunningCore& core, const Region& region, Space space) {
  return (space == Space::kNram && core.IsVariable(region.begin)) || core.Fits(region, space);
}

// Whether a copy that goes from its first segment to its last, and in each from its first byte to
// its last, reads every byte before it overwrites it: libraries compact and spread rows in place.
bool ReadsBeforeItWrites(const Region& to, const Region& from) {
  // The lowest byte that segments i and later read.
  const char* lowest = from.end();
  for (int64_t i = to.segments(); i-- > 0;) {
    const char* const dst = to.segment(i);
    const char* const src = from.segment(i);
    const bool overlaps_own = dst < src + from.bytes && src < dst + to.bytes;
    if (overlaps_own && dst > src) return false;
    if (i + 1 < to.segments() && dst + to.bytes > lowest) return false;
    lowest = std::min(lowest, src);
  }
  return true;
}

// Both sides in their memories, apart or copied forward in NRAM, and as WRAM wants them.
void CheckPlaces(RunningCore& core, const char* name, Where where, const Direction& way,
                 const Region& to, const Region& from) {
  if (!IsIn(core, to, way.to)) core.Locate(name, "dst", where, to, way.to);
  if (!IsIn(core, from, way.from)) core.Locate(name, "src", where, from, way.from);
  const bool in_nram = way.to == Space::kNram && way.from == Space::kNram;
  if (Overlap(to, from) && !(in_nram && ReadsBeforeItWrites(to, from))) {
    core.Fail(where, Format("%s: dst and src overlap", name));
  }
  for (const auto& [space, region] : {std::pair(way.to, &to), std::pair(way.from, &from)}) {
    if (space != Space::kWram) continue;
    if (reinterpret_cast<uintptr_t>(region->begin) % 8 == 0 && region->bytes % 16 == 0) continue;
    core.Fail(where, Format("%s: WRAM is copied in pieces of 16 bytes at addresses that are "
                            "multiples of 8",
                            name));
  }
}

void MoveBytes(const Region& dst, const Region& src) {
  const int64_t segments = dst.segments();
  for (int64_t i = 0; i < segments; ++i) {
    memmove(const_cast<char*>(dst.segment(i)), src.segment(i), dst.bytes);
  }
}

bool AreContiguous(const Region& dst, const Region& src) {
  return !dst.scattered() && !src.scattered();
}

}  // namespace

void RunningCore::Perform(const PendingCopy& copy) {
  if (!check_) {
    MoveBytes(copy.dst, copy.src);
    return;
  }
  if (store_.bytes != 0) CheckStore();
  Array* const from = arrays_.Find(copy.src.begin);
  Array* const to = arrays_.Find(copy.dst.begin);
  CheckRace(copy.name, copy.where, copy.src, from ? from->space() : Space::kGdram, false);
  CheckRace(copy.name, copy.where, copy.dst, to ? to->space() : Space::kGdram, true,
            &copy.src);
  if (to == nullptr && AreContiguous(copy.dst, copy.src)) {
    Move(const_cast<char*>(copy.dst.begin), copy.src.begin, copy.dst.total(), Space::kGdram);
  } else if (to == nullptr) {
    for (int64_t i = 0; i < copy.dst.segments(); ++i) {
      Move(const_cast<char*>(copy.dst.segment(i)), copy.src.segment(i), copy.dst.bytes,
           Space::kGdram);
    }
  } else {
    MoveBytes(copy.dst, copy.src);
  }

  const int64_t segments = copy.dst.segments();
  bool unwritten = false;
  for (int64_t i = 0; i < segments; ++i) {
    const char* const dst = copy.dst.segment(i);
    const char* const src = copy.src.segment(i);
    if (from == nullptr || !from->HasUnwritten(src, copy.src.bytes)) {
      if (to != nullptr) to->MarkWritten(dst, copy.dst.bytes);
    } else if (to == nullptr) {
      unwritten = true;
    } else {
      memmove(to->Shadow(dst), from->Shadow(src), copy.dst.bytes);
      to->Touch(dst, copy.dst.bytes);
    }
  }
  if (unwritten) {
    Say(copy.where, Format("%s stores bytes of %s that nobody has written", copy.name,
                           from->name()));
  }
}

void CopyToCluster(const char* name, bool async, void* dst, const void* src, int64_t bytes,
                   mluMemcpyDirection_t direction, int64_t cluster, Where where) {
  RunningCore& core = *current_core;
  if (direction != SRAM2SRAM) {
    core.Fail(where, Format("%s: only SRAM2SRAM takes the number of a cluster", name));
  }
  const int clusters = std::max(1, core.task().cluster_dim);
  if (cluster < 0 || cluster >= clusters) {
    core.Fail(where, Format("%s: cluster %lld is none of the %d of this union task", name,
                            static_cast<long long>(cluster), clusters));
  }
  Copy(name, async, core.InCluster(dst, static_cast<int>(cluster)), src, {bytes, {}, {}}, direction,
       where);
}

void Copy(const char* name, bool async, void* dst, const void* src, const CopyShape& shape,
          mluMemcpyDirection_t direction, Where where) {
  RunningCore& core = *current_core;
  core.Called();
  const std::string error = ShapeError(shape);
  if (!error.empty()) core.Fail(where, std::string(name) + ": " + error);
  const Direction* const way = GetDirection(direction);
  if (way == nullptr) {
    core.Fail(where, Format("%s: %d is no direction", name, static_cast<int>(direction)));
  }
  const Region to = Normal(dst, shape.bytes, shape.dst);
  const Region from = Normal(src, shape.bytes, shape.src);
  const bool strided = to.scattered() || from.scattered();
  const int arch = core.launch().card->arch;
  if (const char* why = WhyNot(*way, arch, async, strided)) {
    core.Fail(where, Format("%s: %s: %s", name, way->name, why));
  }
  const bool uses_core_memory = way->from == Space::kNram || way->from == Space::kWram ||
                                way->to == Space::kNram || way->to == Space::kWram;
  if (core.is_mpu() && uses_core_memory) {
    // It has no such memory. Loads are done all the same, so that code behind them that looks at
    // values goes the way of its cluster's first core.
    const bool stays = way->to == Space::kNram || way->to == Space::kWram;
    if (stays && IsIn(core, to, way->to) && IsIn(core, from, way->from)) MoveBytes(to, from);
    return;
  }
  const bool in_core = way->from == Space::kNram && way->to == Space::kNram;
  const Pipe pipe = in_core && async && strided ? Pipe::kMove : way->pipe;
  const unsigned own = pipe == Pipe::kIo ? +kIoBit : pipe == Pipe::kMove ? +kMoveBit : 0u;
  if (core.checks()) CheckPlaces(core, name, where, *way, to, from);
  if (!async && core.checks()) core.Complete(own);
  bool waits_for_compute = false;
  if (!async && pipe != Pipe::kCompute && core.follows_compute()) {
    waits_for_compute = core.in_flight().TouchesCompute(from, false) ||
                        core.in_flight().TouchesCompute(to, true);
    if (waits_for_compute) core.in_flight().DropCompute();
  }
  if (core.checks()) {
    core.CheckInFlight({name, "dst", pipe, true, async}, where, to);
    core.CheckInFlight({name, "src", pipe, false, async}, where, from);
  }

  const PendingCopy copy{name, where, pipe, to, from};
  if (pipe == Pipe::kCompute) {
    core.Perform(copy);
    if (async && core.follows_compute()) {
      core.in_flight().AddCompute(name, where, to.begin, to.end() - to.begin, true);
      core.in_flight().AddCompute(name, where, from.begin, from.end() - from.begin, false);
    }
  } else if (async && core.checks() && !GetOptions().early && !core.IsVariable(src)) {
    core.in_flight().AddCopy(copy);
  } else {
    // Of a variable, too: before the sync its place may be another's.
    core.Perform(copy);
    if (async && core.checks()) core.in_flight().AddPerformed(copy);
  }

  if (!core.recorder().on()) return;
  Operation operation{.kind = Kind::kCopy, .pipe = pipe, .blocking = !async};
  if (waits_for_compute) operation.pipes = PipeBit(Pipe::kCompute);
  operation.from = way->from;
  operation.to = way->to;
  const bool stored = way->to == Space::kGdram || way->to == Space::kLdram;
  const bool loaded = way->from == Space::kGdram || way->from == Space::kLdram;
  const Region& off_chip = stored ? to : from;
  operation.strided = off_chip.scattered();
  if (stored || loaded) {
    const GdramUnits units = CountGdramUnits(reinterpret_cast<uintptr_t>(off_chip.begin),
                                             off_chip.bytes, off_chip.side);
    operation.units = static_cast<uint32_t>(units.touched);
    operation.partial_units = static_cast<uint32_t>(units.partial);
  }
  operation.segments = static_cast<uint32_t>(strided ? to.segments() : 1);
  operation.bytes = to.total();
  operation.site = core.recorder().glossary().Site(name, where);
  core.recorder().Add(operation);
}

}  // namespace bang
