// SPDX-License-Identifier: Apache-2.0
//
// Gather, scatter, fill, and what a kernel says.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <vector>

#include "bang/machine.h"
#include "builtins/truth.h"
#include "machine/running_core.h"
#include "machine/vector_call.h"

namespace bang {
namespace {

void RecordPieces(RunningCore& core, const char* name, Where where, Space from, Space to, int64_t moved,
                  int64_t bytes) {
  if (!core.recorder().on()) return;
  Operation operation{.kind = Kind::kCopy, .pipe = Pipe::kIo, .blocking = true};
  operation.pipes = PipeBit(Pipe::kCompute);
  operation.from = from;
  operation.to = to;
  operation.strided = true;
  operation.segments = static_cast<uint32_t>(moved);
  operation.bytes = moved * bytes;
  operation.site = core.recorder().glossary().Site(name, where);
  core.recorder().Add(operation);
}

// The two differ in which side is at base + offset.
void MovePieces(const char* name, bool gather, void* dst, const void* src, const PieceList& pieces,
                Where where) {
  RunningCore& core = *current_core;
  core.Called();
  if (core.is_mpu()) return;
  if (pieces.bytes <= 0 || pieces.count <= 0) {
    core.Fail(where, Format("%s: size is %lld and the number of pieces %lld; expected at least 1",
                            name, static_cast<long long>(pieces.bytes),
                            static_cast<long long>(pieces.count)));
  }
  if (pieces.count > 1 && pieces.stride < (gather ? pieces.bytes : 0)) {
    core.Fail(where, Format("%s: stride is %lld, less than the %lld bytes of a piece", name,
                            static_cast<long long>(pieces.stride),
                            static_cast<long long>(pieces.bytes)));
  }
  const Region offsets =
      Contiguous(pieces.offsets, pieces.count * static_cast<int64_t>(sizeof(uint32_t)));
  const Region mask = Contiguous(pieces.mask, (pieces.count + 7) / 8);
  core.in_flight().DropCompute();
  if (core.checks()) {
    core.Complete(kIoBit);
    core.Locate(name, "offset", where, offsets, Space::kNram);
    core.CheckInFlight({name, "offset", Pipe::kIo, false, false}, where, offsets);
    if (pieces.mask != nullptr) {
      core.Locate(name, "mask", where, mask, Space::kNram);
      core.CheckInFlight({name, "mask", Pipe::kIo, false, false}, where, mask);
    }
  }
  int64_t moved = 0;
  for (int64_t i = 0; i < pieces.count; ++i) {
    if (pieces.mask != nullptr && !IsSetBit(pieces.mask, i)) continue;
    ++moved;
    const int64_t near = i * pieces.stride, far = pieces.offsets[i];
    const PendingCopy piece{
        name, where, Pipe::kIo,
        Contiguous(static_cast<char*>(dst) + (gather ? near : far), pieces.bytes),
        Contiguous(static_cast<const char*>(src) + (gather ? far : near), pieces.bytes)};
    if (core.checks()) {
      core.Locate(name, "dst", where, piece.dst, gather ? Space::kNram : Space::kGdram);
      core.Locate(name, "src", where, piece.src, gather ? Space::kGdram : Space::kNram);
      core.CheckInFlight({name, "dst", Pipe::kIo, true, false}, where, piece.dst);
      core.CheckInFlight({name, "src", Pipe::kIo, false, false}, where, piece.src);
    }
    core.Perform(piece);
  }
  RecordPieces(core, name, where, gather ? Space::kGdram : Space::kNram,
               gather ? Space::kNram : Space::kGdram, moved, pieces.bytes);
}

void FillBytes(void* dst, int64_t count, int element_bytes, uint64_t value) {
  if (element_bytes == 1) {
    memset(dst, static_cast<int>(value & 0xff), count);
    return;
  }
  const int64_t total = count * element_bytes;
  memcpy(dst, &value, element_bytes);
  // What is there is copied behind itself, twice as much each time.
  for (int64_t done = element_bytes; done < total; done *= 2) {
    memcpy(static_cast<char*>(dst) + done, dst, done < total - done ? done : total - done);
  }
}

}  // namespace

void Gather(const char* name, void* dst, const void* src, const PieceList& pieces, Where where) {
  MovePieces(name, true, dst, src, pieces, where);
}

void Scatter(const char* name, void* dst, const void* src, const PieceList& pieces, Where where) {
  MovePieces(name, false, dst, src, pieces, where);
}

void Fill(const char* name, void* dst, int64_t count, int element_bytes, uint64_t value,
          Space space, Where where) {
  const int64_t bytes = count * element_bytes;
  if (space == Space::kNram) {
    VectorCall call(name, where);
    call.Count(count);
    call.Write("dst", dst, bytes);
    call.Begin({.bytes = bytes});
    FillBytes(dst, count, element_bytes, value);
    call.EndInitialised();
    return;
  }
  RunningCore& core = *current_core;
  core.Called();
  if (count <= 0) {
    core.Fail(where, Format("%s: count is %lld; expected at least 1", name,
                            static_cast<long long>(count)));
  }
  if (core.is_mpu() && space == Space::kWram) return;
  const Pipe pipe = space == Space::kGdram || space == Space::kLdram ? Pipe::kIo : Pipe::kMove;
  const Region region = Contiguous(dst, bytes);
  if (core.checks()) {
    core.Complete(pipe == Pipe::kIo ? kIoBit : kMoveBit);
    const Place place = core.Locate(name, "dst", where, region, space);
    core.CheckInFlight({name, "dst", pipe, true, false}, where, region);
    if (core.FollowsStores(space)) {
      std::vector<char> values(bytes);
      FillBytes(values.data(), count, element_bytes, value);
      const Region stored = Contiguous(values.data(), bytes);
      core.CheckRace(name, where, region, space, true, &stored);
      core.Move(static_cast<char*>(dst), values.data(), bytes, space);
    } else {
      FillBytes(dst, count, element_bytes, value);
    }
    if (place.array != nullptr) place.array->MarkWritten(dst, bytes);
  } else {
    FillBytes(dst, count, element_bytes, value);
  }
  if (!core.recorder().on()) return;
  Operation operation{.kind = Kind::kCopy, .pipe = pipe, .blocking = true};
  operation.to = space;
  operation.bytes = bytes;
  operation.site = core.recorder().glossary().Site(name, where);
  core.recorder().Add(operation);
}

bool IsIn(const void* address, Space space) {
  return current_core != nullptr && current_core->Fits(Contiguous(address, 1), space);
}

void Print(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = FormatList(format, arguments);
  va_end(arguments);
  if (current_core != nullptr) current_core->output() += text;
}

void Stop(const char* reason, Where where) { current_core->Fail(where, reason); }

void InlineAssembly(const char* text, Where where) {
  std::string word;
  for (const char* c = text; *c != '\0'; ++c) {
    if (!isspace(static_cast<unsigned char>(*c)) && *c != ';') word += *c;
  }
  if (word.empty()) return;
  if (word == "sync") {
    Sync("sync", kIoBit | kMoveBit | kComputeBit, where);
    return;
  }
  current_core->Fail(where, Format("inline assembly \"%s\" can't be run here; only \"sync;\" can",
                                   text));
}

}  // namespace bang
