// SPDX-License-Identifier: Apache-2.0
//
// The list of points and words, and how it is processed: each bit of a mask makes a pair of a point
// and a box. The pairs fetch what the test needs from memory, all at once.
#pragma once

#include "ops/points_in_boxes/mlu_slabs.h"

namespace detops::ops::points_in_boxes {
namespace {

constexpr int kMostUnit = MostPoints(DETOPS_MLU_ARCH);
constexpr int kLeafPoints = 1152;  // of a leaf at a time
constexpr int kListPairs = 1664;
constexpr int kPairs = 768;              // at a time
constexpr int kTables = 12;              // words at a time
constexpr uint32_t kNone = 0xffffffffu;  // no box: -1 in the result

struct Hit {
  int32_t point;
  uint32_t box;
};

struct FindMemory {
  // Of the points of the unit, node by node: all x, all y, all z.
  float coordinates[3 * kMostUnit];
  int32_t numbers[kMostUnit];  // in the unit
  union {
    float split[3 * kMostUnit];
    struct {
      int32_t slabs[3][kLeafPoints];
      int32_t mask[kLeafPoints], other[kLeafPoints], third[kLeafPoints];
      union {
        struct {
          float t[6][kLeafPoints];
        } all;
        struct {
          float records[kPairs];  // their numbers
          int32_t points[kPairs];
          float loaded[(kRecordWords + 3) * kPairs];   // records, then coordinates
          float columns[(kRecordWords + 3) * kPairs];  // an array for each of their words
        } pairs;
      };
    };
  };
  uint32_t found[kMostUnit];  // the box of each point of the unit
  struct {
    int32_t points[kListPairs];
    int32_t masks[kListPairs];
    float records[kListPairs];  // the number of the word's first one, less 127
  } list;
  Hit hits[kPairs];
  Node nodes[2 << kMostDepth];
  WordSlabs tables[2][kTables];
  BoxRecord records[kBoxesPerWord];
  float zeros[kLeafPoints];
};

struct PairList {
  int count;
  int hits;             // in FindMemory, to be noted
  const float* points;  // of the unit, in memory
  const BoxRecord* records;
};

// Notes that a box contains a point; of several the lowest stays. kNone is the highest.
__mlu_func__ void Note(uint32_t* found, const Hit& hit) {
  uint32_t& box = found[hit.point];
  if (hit.box < box) box = hit.box;
}

// The last ones that wait, at most `most` of them.
__mlu_func__ void NoteHits(FindMemory* m, PairList* list, int most) {
  const int rest = list->hits > most ? list->hits - most : 0;
  for (int i = rest; i < list->hits; ++i) Note(m->found, m->hits[i]);
  list->hits = rest;
}

// Tests n pairs: |z - cz| <= reach_z, |lx| <= reach_x and |ly| <= reach_y.
__mlu_func__ void TestPairs(FindMemory* m, PairList* list, int n) {
  if (n == 0) return;
  auto& p = m->pairs;
  // Offsets first: while a core waits for memory, it has nothing else to do.
  constexpr int kRecordBytes = kRecordWords * sizeof(float), kPointBytes = 3 * sizeof(float);
  int32_t *const record = Bits(p.columns), *const point = Bits(p.columns) + n;
  float* const coordinates = p.loaded + kRecordWords * n;
  __bang_float2int32_rn(record, p.records, n, 0);
  __bang_mul_scalar(point, p.points, kPointBytes, n);
  __bang_mul_scalar(record, record, static_cast<int32_t>(sizeof(BoxRecord)), n);
  __gather(coordinates, list->points, reinterpret_cast<uint32_t*>(point), kPointBytes, GDRAM2NRAM,
           kPointBytes, n);
  __gather(p.loaded, list->records, reinterpret_cast<uint32_t*>(record), kRecordBytes, GDRAM2NRAM,
           kRecordBytes, n);
  __bang_transpose(p.columns, p.loaded, n, kRecordWords);
  __bang_transpose(p.columns + kRecordWords * n, coordinates, n, 3);

  const float *const cx = p.columns, *const cy = cx + n, *const cz = cx + 2 * n;
  const float *const cos = cx + 3 * n, *const sin = cx + 4 * n, *const reach_x = cx + 5 * n;
  const float *const reach_y = cx + 6 * n, *const reach_z = cx + 7 * n, *const box = cx + 8 * n;
  const float *const x = cx + 9 * n, *const y = cx + 10 * n, *const z = cx + 11 * n;
  float *const dx = p.loaded, *const dy = dx + n, *const dz = dx + 2 * n, *const a = dx + 3 * n;
  float* const b = dx + 4 * n;
  __bang_sub(dx, x, cx, n);
  __bang_sub(dy, y, cy, n);
  __bang_sub(dz, z, cz, n);
  __bang_mul(a, dx, cos, n);
  __bang_mul(b, dy, sin, n);
  __bang_abs(dz, dz, n);
  __bang_sub(a, a, b, n);
  __bang_mul(dx, dx, sin, n);
  __bang_abs(a, a, n);
  __bang_mul(dy, dy, cos, n);
  __bang_le(dz, dz, reach_z, n);
  __bang_add(dx, dx, dy, n);
  __bang_le(a, a, reach_x, n);
  __bang_abs(dx, dx, n);
  __bang_and(dz, dz, a, n);
  __bang_le(dx, dx, reach_y, n);
  __bang_and(dz, dz, dx, n);
  float* const points = p.loaded + 5 * n;  // and the boxes behind them
  const int hits = __bang_filter(Bits(points), p.points, Bits(dz), n);
  if (hits == 0) return;
  __bang_filter(Bits(points + hits), Bits(box), Bits(dz), n);
  NoteHits(m, list, kPairs);  // what is left of the last time
  __bang_transpose(reinterpret_cast<float*>(m->hits), points, 2, hits);
  list->hits = hits;
}

__mlu_func__ void ProcessList(FindMemory* m, PairList* list) {
  auto& p = m->pairs;
  int pairs = 0;
  for (int begin = 0; begin < list->count; begin += kPairs) {
    int32_t* const points = m->list.points + begin;
    int32_t* const masks = m->list.masks + begin;
    float* const records = m->list.records + begin;
    int n = list->count - begin < kPairs ? list->count - begin : kPairs;
    while (n > 0) {
      if (pairs + n > kPairs) {
        TestPairs(m, list, pairs);
        pairs = 0;
      }
      // The lowest bit b of the mask as 2^b; as a float its exponent is b + 127.
      float* const record = p.records + pairs;
      int32_t* const low = Bits(p.loaded);
      __bang_mul_scalar(low, masks, -1, n);
      CopyWords(p.points + pairs, points, n);
      __bang_band(low, low, masks, n);
      __bang_int322float(record, low, n, 0);
      __bang_bxor(masks, masks, low, n);
      __bang_band_scalar(Bits(record), Bits(record), 0x7f800000, n);
      __bang_int322float(record, Bits(record), n, 0);
      __bang_mul_scalar(record, record, 0x1p-23f, n);
      __bang_add(record, record, records, n);
      pairs += n;
      __bang_filter(points, points, masks, n);
      __bang_filter(Bits(records), Bits(records), masks, n);
      n = __bang_filter(masks, masks, masks, n);
    }
  }
  TestPairs(m, list, pairs);
  list->count = 0;
}

}  // namespace
}  // namespace detops::ops::points_in_boxes
