// SPDX-License-Identifier: Apache-2.0
//
// Transposes between separate channels (NCHW) and adjacent channels. Compiled once for each Highway
// target, hence the unusual guard.
#if defined(DETOPS_OPS_BORDER_ALIGN_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DETOPS_OPS_BORDER_ALIGN_TRANSPOSE_INL_H_
#undef DETOPS_OPS_BORDER_ALIGN_TRANSPOSE_INL_H_
#else
#define DETOPS_OPS_BORDER_ALIGN_TRANSPOSE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "ops/border_align_forward/packed_maps.h"

HWY_BEFORE_NAMESPACE();
namespace detops::ops::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using border_align::kPacked;
using border_align::WithAllLanes;

// Transposes four rows of kPacked values, `apart` from each other, into kPacked runs of four.
template <class V>
HWY_INLINE void Interleave(const V* rows, int64_t apart, V* runs) {
  const hn::CappedTag<V, kPacked> tag;
  const auto at = [&](int64_t row, int64_t i)
                      HWY_ATTR { return hn::LoadU(tag, rows + row * apart + i); };
  for (int64_t i = 0; i < kPacked; i += static_cast<int64_t>(hn::Lanes(tag))) {
    hn::StoreInterleaved4(at(0, i), at(1, i), at(2, i), at(3, i), tag, runs + 4 * i);
  }
}

// Packs the pixels from `begin` to `end` of a map [channels][pixels] into [pixels][group]; lanes
// that no channel fills become 0.
template <class V>
HWY_INLINE void Pack(const V* map, int64_t channels, int64_t pixels, int64_t begin, int64_t end,
                     int64_t group, V* packed) {
  const hn::CappedTag<V, 4> tag;
  const int64_t whole = begin + (end - begin) / kPacked * kPacked;
  int64_t c = 0;
  for (; c + 4 <= channels; c += 4) {
    for (int64_t p = begin; p < whole; p += kPacked) {
      HWY_ALIGN V runs[4 * kPacked];
      Interleave(map + c * pixels + p, pixels, runs);
      for (int64_t i = 0; i < kPacked; ++i) {
        hn::StoreU(hn::Load(tag, runs + 4 * i), tag, packed + (p + i) * group + c);
      }
    }
    for (int64_t p = whole; p < end; ++p) {
      for (int64_t d = c; d < c + 4; ++d) packed[p * group + d] = map[d * pixels + p];
    }
  }
  for (int64_t p = begin; p < end; ++p) {
    V* const to = packed + p * group;
    for (int64_t d = c; d < channels; ++d) to[d] = map[d * pixels + p];
    std::fill(to + channels, to + WithAllLanes(channels), V{});
  }
}

// Bytes per streaming store. For a smaller vector, Highway would still write as many.
constexpr int64_t kStreamed = 16;

// Writes the results of up to four boxes, [border][box][group], in the order of NCHW,
// [channel][box][border], with channels `stride` apart. Channel by channel, so that each cache line
// is filled at once.
template <class V>
HWY_INLINE void Transpose(const V* results, int64_t boxes, int64_t count, int64_t group,
                          int64_t channels, bool stream, V* output, int64_t stride) {
  const hn::CappedTag<V, 4> tag;
  for (int64_t c = 0; c < channels; c += kPacked) {
    HWY_ALIGN V runs[4][4 * kPacked];
    for (int64_t k = 0; k < count; ++k) {
      Interleave(results + k * group + c, boxes * group, runs[k]);
    }
    for (int64_t d = 0; d < std::min(kPacked, channels - c); ++d) {
      for (int64_t k = 0; k < count; ++k) {
        const auto borders = hn::Load(tag, runs[k] + 4 * d);
        V* const to = output + (c + d) * stride + 4 * k;
        if constexpr (sizeof(V) * 4 == kStreamed) {
          if (stream) {
            hn::Stream(borders, tag, to);
            continue;
          }
        }
        hn::StoreU(borders, tag, to);
      }
    }
  }
}

}  // namespace detops::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
