// SPDX-License-Identifier: Apache-2.0
//
// The kernel that finds the boxes of points. A core takes a unit of points into NRAM and follows the
// tree with all of them at once: a plane divides the points of a node in place. In a leaf, masks of
// the slabs that a point lies in tell which boxes of a word it may lie in. Pairs of a point and a
// word go to a list, which is processed when it is full: in each round every pair tests its next
// box.
#pragma once

#include "ops/points_in_boxes/mlu_slabs.h"

namespace detops::ops::points_in_boxes {
namespace {

constexpr int kMostUnit = MostPoints(DETOPS_MLU_ARCH);
constexpr int kLeafPoints = 768;  // of a leaf at a time
constexpr int kListPairs = 1600;
constexpr int kRoundPairs = kListPairs / 2;
constexpr int kTables = kWordsPerLeaf;  // words at a time
constexpr int32_t kNone = -1;

struct FindMemory {
  float coordinates[3 * kMostUnit];  // of the points, node by node: all x, all y, all z
  int32_t point[kMostUnit];          // their numbers in the unit
  int32_t found[kMostUnit];          // the box of each point of the unit
  struct {
    float x[kListPairs], y[kListPairs], z[kListPairs];
    int32_t point[kListPairs];
    int32_t boxes[kListPairs];  // a bit for each box of the word that is still to be tested
    float first[kListPairs];    // the number of the word's first record
  } list;
  Node nodes[2 << kMostDepth];
  WordSlabs tables[kTables];
  BoxRecord records[kBoxesPerWord];
  float zeros[kLeafPoints];
  union {
    float loaded[3 * kMostUnit];
    struct {
      float above[kMostUnit], below[kMostUnit], moved[kMostUnit];
    } split;
    struct {
      struct {
        int32_t slab[3][kLeafPoints];
        int32_t boxes[kLeafPoints], other[kLeafPoints];
        float t[6][kLeafPoints];
        int32_t hit[2][kLeafPoints];
      } leaf;
      struct {
        uint32_t offsets[kRoundPairs];
        float records[kRecordWords * kRoundPairs], columns[kRecordWords * kRoundPairs];
        float t[6][kRoundPairs];
        int32_t hit[2][kRoundPairs];
      } round;
    };
  };
};

// Notes that a box contains a point; of several the lowest stays. As an unsigned number, kNone is
// the highest.
__mlu_func__ void Note(int32_t* found, int32_t point, int32_t box) {
  if (static_cast<uint32_t>(box) < static_cast<uint32_t>(found[point])) found[point] = box;
}

// Arrays in FindMemory, as bits: most of what happens to them is being moved.
struct Points {
  int32_t *x, *y, *z, *point;
  int count;

  __mlu_func__ Points From(int begin, int n) const {
    return {x + begin, y + begin, z + begin, point + begin, n};
  }
  __mlu_func__ int32_t* Axis(int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
};

// Keeps those where `mask` is not 0.
__mlu_func__ void Keep(Points* p, const int32_t* mask) {
  __bang_filter(p->x, p->x, mask, p->count);
  __bang_filter(p->y, p->y, mask, p->count);
  __bang_filter(p->z, p->z, mask, p->count);
  p->count = __bang_filter(p->point, p->point, mask, p->count);
}

// Where |z - cz| <= reach_z, |lx| <= reach_x and |ly| <= reach_y, for points and boxes of equal
// number. `t` are 6 arrays.
__mlu_func__ float* TestPairs(const float* x, const float* y, const float* z, const float* box,
                              float (*t)[kRoundPairs], int n) {
  const float *const cx = box, *const cy = box + n, *const cz = box + 2 * n;
  const float *const cos = box + 3 * n, *const sin = box + 4 * n;
  const float *const reach_x = box + 5 * n, *const reach_y = box + 6 * n;
  const float* const reach_z = box + 7 * n;
  float *const dx = t[0], *const dy = t[1], *const dz = t[2], *const a = t[3], *const b = t[4];
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
  return dz;
}

// Tests the pairs of the list from `begin` on.
__mlu_func__ void ProcessPairs(FindMemory* m, const BoxRecord* records, int begin, int count) {
  auto& r = m->round;
  int32_t* const x = reinterpret_cast<int32_t*>(m->list.x) + begin;
  int32_t* const y = reinterpret_cast<int32_t*>(m->list.y) + begin;
  int32_t* const z = reinterpret_cast<int32_t*>(m->list.z) + begin;
  int32_t* const first = reinterpret_cast<int32_t*>(m->list.first) + begin;
  int32_t* const point = m->list.point + begin;
  int32_t* const boxes = m->list.boxes + begin;
  int n = count;
  while (n > 0) {
    // The lowest bit b of `boxes` as 2^b; as a float its exponent is b + 127.
    int32_t* const low = reinterpret_cast<int32_t*>(r.t[0]);
    float* const number = r.t[1];
    __bang_mul_scalar(low, boxes, -1, n);
    __bang_band(low, low, boxes, n);
    __bang_int322float(number, low, n, 0);
    __bang_bxor(boxes, boxes, low, n);
    __bang_band_scalar(reinterpret_cast<int32_t*>(number), reinterpret_cast<int32_t*>(number),
                       0x7f800000, n);
    __bang_int322float(number, reinterpret_cast<int32_t*>(number), n, 0);
    __bang_mul_scalar(number, number, 0x1p-23f, n);
    __bang_add(number, number, reinterpret_cast<float*>(first), n);
    __bang_float2int32_rn(reinterpret_cast<int32_t*>(r.offsets), number, n, 0);
    __bang_mul_scalar(reinterpret_cast<int32_t*>(r.offsets), reinterpret_cast<int32_t*>(r.offsets),
                      static_cast<int32_t>(sizeof(BoxRecord)), n);
    constexpr int kBytes = kRecordWords * sizeof(float);
    __gather(r.records, records, r.offsets, kBytes, GDRAM2NRAM, kBytes, n);
    __bang_transpose(r.columns, r.records, n, kRecordWords);
    float* const hit = TestPairs(reinterpret_cast<float*>(x), reinterpret_cast<float*>(y),
                                 reinterpret_cast<float*>(z), r.columns, r.t, n);
    const int32_t* const box = reinterpret_cast<int32_t*>(r.columns + 8 * n);
    const int32_t* const is_hit = reinterpret_cast<int32_t*>(hit);
    __bang_filter(r.hit[0], point, is_hit, n);
    const int hits = __bang_filter(r.hit[1], box, is_hit, n);
    // Pairs go on that have not found a box and have others to test.
    float* const more = r.t[0];
    __bang_not(hit, hit, n);
    __bang_int322float(more, boxes, n, 0);
    __bang_mul(more, more, hit, n);
    const int32_t* const goes_on = reinterpret_cast<int32_t*>(more);
    __bang_filter(x, x, goes_on, n);
    __bang_filter(y, y, goes_on, n);
    __bang_filter(z, z, goes_on, n);
    __bang_filter(first, first, goes_on, n);
    __bang_filter(point, point, goes_on, n);
    n = __bang_filter(boxes, boxes, goes_on, n);
    for (int i = 0; i < hits; ++i) Note(m->found, r.hit[0][i], r.hit[1][i]);
  }
}

__mlu_func__ void ProcessList(FindMemory* m, const BoxRecord* records, int count) {
  for (int begin = 0; begin < count; begin += kRoundPairs) {
    ProcessPairs(m, records, begin, count - begin < kRoundPairs ? count - begin : kRoundPairs);
  }
}

__mlu_func__ int CountBits(uint32_t v) {
  v -= (v >> 1) & 0x55555555u;
  v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
  v = (v + (v >> 4)) & 0x0f0f0f0fu;
  return static_cast<int>((v * 0x01010101u) >> 24);
}

// Whether testing `points` points with all boxes of a word is faster than testing pairs.
__mlu_func__ bool HasManyPairs(const int32_t* boxes, int pairs, int points) {
  constexpr int kSamples = 8, kPairCost = 6, kPointCost = 17;
  if (pairs * kSamples < points) return false;
  const int step = (pairs + kSamples - 1) / kSamples;
  int bits = 0;
  for (int i = 0; i < pairs; i += step) bits += CountBits(static_cast<uint32_t>(boxes[i]));
  return bits * step * kPairCost > points * kPointCost;
}

// Tests the points with all boxes of a word. Those that lie in one need not go on.
__mlu_func__ void TestAll(FindMemory* m, Points* p, const BoxRecord* records, int boxes) {
  auto& leaf = m->leaf;
  const int n = p->count;
  float *const dx = leaf.t[0], *const dy = leaf.t[1], *const dz = leaf.t[2], *const a = leaf.t[3];
  float *const b = leaf.t[4], *const best = leaf.t[5];
  __memcpy(m->records, records, boxes * sizeof(BoxRecord), GDRAM2NRAM);
  __bang_write_zero(best, n);
  for (int i = 0; i < boxes; ++i) {
    const BoxRecord& box = m->records[i];
    __bang_sub_scalar(dx, reinterpret_cast<float*>(p->x), box.cx, n);
    __bang_sub_scalar(dy, reinterpret_cast<float*>(p->y), box.cy, n);
    __bang_sub_scalar(dz, reinterpret_cast<float*>(p->z), box.cz, n);
    __bang_mul_scalar(a, dx, box.cos, n);
    __bang_mul_scalar(b, dy, box.sin, n);
    __bang_abs(dz, dz, n);
    __bang_sub(a, a, b, n);
    __bang_mul_scalar(dx, dx, box.sin, n);
    __bang_abs(a, a, n);
    __bang_mul_scalar(dy, dy, box.cos, n);
    __bang_le_scalar(dz, dz, box.reach_z, n);
    __bang_add(dx, dx, dy, n);
    __bang_le_scalar(a, a, box.reach_x, n);
    __bang_abs(dx, dx, n);
    __bang_and(dz, dz, a, n);
    __bang_le_scalar(dx, dx, box.reach_y, n);
    __bang_and(dz, dz, dx, n);
    // The first box counts most.
    __bang_mul_scalar(dz, dz, static_cast<float>(boxes - i), n);
    __bang_maxequal(best, best, dz, n);
  }
  __bang_filter(leaf.hit[0], p->point, reinterpret_cast<int32_t*>(best), n);
  const int hits = __bang_filter(leaf.hit[1], reinterpret_cast<int32_t*>(best),
                                 reinterpret_cast<int32_t*>(best), n);
  if (hits == 0) return;
  __bang_not(best, best, n);
  const int32_t* const missed = reinterpret_cast<int32_t*>(best);
  for (int axis = 0; axis < 3; ++axis) {
    __bang_filter(leaf.slab[axis], leaf.slab[axis], missed, n);
  }
  Keep(p, missed);
  __bang_float2int32_rn(leaf.hit[1], reinterpret_cast<float*>(leaf.hit[1]), hits, 0);
  for (int i = 0; i < hits; ++i) {
    Note(m->found, leaf.hit[0][i], m->records[boxes - leaf.hit[1][i]].box);
  }
}

// The points of a node.
struct Range {
  int node, begin, count;
};

// Adds the pairs of the leaf's points and words to the list; returns the length of the list.
__mlu_func__ int ProcessLeaf(FindMemory* m, const Points& all, const WordSlabs* words,
                             const BoxRecord* records, const Range& range, int listed) {
  const Node& node = m->nodes[range.node];
  const int box_count = node.boxes, first_word = node.first_word;
  const int word_count = (box_count + kBoxesPerWord - 1) / kBoxesPerWord;
  float origin[3], scale[3];
  for (int axis = 0; axis < 3; ++axis) {
    origin[axis] = node.origin[axis];
    scale[axis] = node.scale[axis];
  }
  auto& leaf = m->leaf;
  int in_tables = kNone;  // the first word there
  for (int begin = range.begin; begin < range.begin + range.count; begin += kLeafPoints) {
    const int rest = range.begin + range.count - begin;
    Points p = all.From(begin, rest < kLeafPoints ? rest : kLeafPoints);
    for (int axis = 0; axis < 3; ++axis) {
      FindSlabs(leaf.slab[axis], reinterpret_cast<const float*>(p.Axis(axis)), origin[axis],
                scale[axis], m->zeros, leaf.t[axis], p.count);
    }
    for (int word = 0; word < word_count && p.count > 0; ++word) {
      const int table = word % kTables;
      if (in_tables != word - table) {
        in_tables = word - table;
        const int n = word_count - in_tables < kTables ? word_count - in_tables : kTables;
        __memcpy(m->tables, words + first_word + in_tables, n * sizeof(WordSlabs), GDRAM2NRAM);
      }
      if (listed > kListPairs - kLeafPoints) {
        ProcessList(m, records, listed);
        listed = 0;
      }
      int32_t *const boxes = leaf.boxes, *const other = leaf.other;
      const WordSlabs& slabs = m->tables[table];
      __bang_lut_s32(boxes, leaf.slab[0], slabs.boxes[0], p.count, kSlabs);
      __bang_lut_s32(other, leaf.slab[1], slabs.boxes[1], p.count, kSlabs);
      __bang_band(boxes, boxes, other, p.count);
      __bang_lut_s32(other, leaf.slab[2], slabs.boxes[2], p.count, kSlabs);
      __bang_band(boxes, boxes, other, p.count);
      __bang_filter(reinterpret_cast<int32_t*>(m->list.x) + listed, p.x, boxes, p.count);
      __bang_filter(reinterpret_cast<int32_t*>(m->list.y) + listed, p.y, boxes, p.count);
      __bang_filter(reinterpret_cast<int32_t*>(m->list.z) + listed, p.z, boxes, p.count);
      __bang_filter(m->list.point + listed, p.point, boxes, p.count);
      const int pairs = __bang_filter(m->list.boxes + listed, boxes, boxes, p.count);
      if (pairs == 0) continue;
      const int first = (first_word + word) * kBoxesPerWord;
      if (HasManyPairs(m->list.boxes + listed, pairs, p.count)) {
        const int boxes_left = box_count - word * kBoxesPerWord;
        TestAll(m, &p, records + first, boxes_left < kBoxesPerWord ? boxes_left : kBoxesPerWord);
      } else {
        __bang_write_value(m->list.first + listed, pairs, static_cast<float>(first - 127));
        listed += pairs;
      }
    }
  }
  return listed;
}

// Divides the points of a node: first those of its first child, then those of its second.
__mlu_func__ void Split(FindMemory* m, const Points& all, const Range& range, Range* first,
                        Range* second) {
  const Node& node = m->nodes[range.node];
  const int n = range.count;
  const float* const at = reinterpret_cast<float*>(all.Axis(node.axis)) + range.begin;
  const float plane = node.plane;
  __bang_ge_scalar(m->split.above, at, plane, n);
  __bang_lt_scalar(m->split.below, at, plane, n);  // a NaN is in neither
  const int32_t* const is_above = reinterpret_cast<int32_t*>(m->split.above);
  const int32_t* const is_below = reinterpret_cast<int32_t*>(m->split.below);
  int32_t* const moved = reinterpret_cast<int32_t*>(m->split.moved);
  int32_t* const arrays[4] = {all.x, all.y, all.z, all.point};
  int above = 0, below = 0;
  for (int i = 0; i < 4; ++i) {
    int32_t* const v = arrays[i] + range.begin;
    above = __bang_filter(moved, v, is_above, n);
    below = __bang_filter(v, v, is_below, n);
    if (above > 0) __bang_move(v + below, moved, above * sizeof(int32_t));
  }
  *first = {2 * range.node, range.begin, below};
  *second = {2 * range.node + 1, range.begin + below, above};
}

// Follows the tree of an index with the points.
__mlu_func__ void FollowTree(FindMemory* m, const PointsInBoxesMlu& call, int64_t index,
                             const Points& points) {
  const int64_t all_words = static_cast<int64_t>(kWordsPerLeaf) << call.depth;
  const WordSlabs* const words = call.indexes.words + index * all_words;
  const BoxRecord* const records = call.indexes.records + index * all_words * kBoxesPerWord;
  __memcpy(m->nodes, call.indexes.nodes + (index << (call.depth + 1)),
           sizeof(Node) << (call.depth + 1), GDRAM2NRAM);
  Range waiting[kMostDepth + 2];
  int length = 0, listed = 0;
  waiting[length++] = {1, 0, points.count};
  while (length > 0) {
    const Range range = waiting[--length];
    if (range.count == 0) continue;
    if (m->nodes[range.node].axis == kLeaf) {
      listed = ProcessLeaf(m, points, words, records, range, listed);
    } else {
      Split(m, points, range, &waiting[length + 1], &waiting[length]);
      length += 2;
    }
  }
  ProcessList(m, records, listed);
}

__mlu_func__ void FindUnit(FindMemory* m, const PointsInBoxesMlu& call, int64_t batch,
                           int64_t begin, int count) {
  __bang_write_value(m->found, count, kNone);
  for (int64_t piece = 0; piece < call.pieces; ++piece) {
    __memcpy(m->loaded, call.all_points + (batch * call.points + begin) * 3,
             3 * count * sizeof(float), GDRAM2NRAM);
    __bang_transpose(m->coordinates, m->loaded, count, 3);
    int32_t* const x = reinterpret_cast<int32_t*>(m->coordinates);
    Points points = {x, x + count, x + 2 * count, m->point, count};
    __bang_incseq(m->point, count);
    if (piece > 0) {
      int32_t* const missed = reinterpret_cast<int32_t*>(m->split.above);
      __bang_eq_scalar(missed, m->found, kNone, count);
      Keep(&points, missed);
    }
    FollowTree(m, call, batch * call.pieces + piece, points);
  }
  __memcpy(call.points_indices + batch * call.points + begin, m->found, count * sizeof(int32_t),
           NRAM2GDRAM);
}

__mlu_func__ void FindAll(FindMemory* m, const PointsInBoxesMlu& call) {
  __bang_write_zero(m->zeros, kLeafPoints);
  for (int64_t unit = taskId; unit < call.batches * call.units; unit += taskDim) {
    const int64_t batch = unit / call.units, begin = unit % call.units * call.points_per_unit;
    const int64_t rest = call.points - begin;
    FindUnit(m, call, batch, begin, rest < call.points_per_unit ? rest : call.points_per_unit);
  }
}

}  // namespace
}  // namespace detops::ops::points_in_boxes
