// SPDX-License-Identifier: Apache-2.0
#include "machine/region.h"

#include <algorithm>

namespace bang {
namespace {

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

// Whether [begin, end) meets one of count + 1 segments that begin at `first` and every `stride`.
bool MeetsRow(const char* begin, const char* end, const char* first, int64_t bytes, int64_t stride,
              int64_t count) {
  if (stride == 0) return begin < first + bytes && first < end;
  // The last segment that begins before `end` is the one that reaches farthest towards `begin`.
  const int64_t last = std::min(count, FloorDivide(end - first - 1, stride));
  return last >= 0 && begin < first + last * stride + bytes;
}

bool MeetsSegment(const Region& region, const char* begin, const char* end) {
  for (int64_t group = 0; group <= region.side.count2; ++group) {
    const char* first = region.begin + group * region.side.stride2;
    if (MeetsRow(begin, end, first, region.bytes, region.side.stride1, region.side.count1)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool Overlap(const Region& a, const Region& b) {
  if (a.begin >= b.end() || b.begin >= a.end()) return false;
  const Region& fewer = a.segments() <= b.segments() ? a : b;
  const Region& more = a.segments() <= b.segments() ? b : a;
  for (int64_t i = 0; i < fewer.segments(); ++i) {
    const char* begin = fewer.segment(i);
    if (MeetsSegment(more, begin, begin + fewer.bytes)) return true;
  }
  return false;
}

}  // namespace bang
