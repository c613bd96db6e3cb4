// SPDX-License-Identifier: Apache-2.0
//
// The kernel that finds the boxes of points. A core takes a unit of points into NRAM and follows
// the tree with all of them at once: a plane divides the points of a node. In a leaf, masks of the
// slabs that a point lies in tell which boxes of a word it may lie in. Points and masks go to a
// list, which is processed when it is full (mlu_pairs.h).
#pragma once

#include "ops/points_in_boxes/mlu_pairs.h"
#include "ops/points_in_boxes/mlu_slabs.h"

namespace detops::ops::points_in_boxes {
namespace {

constexpr int kMaskSamples = 8;
// A list as long as this is processed when there is an occasion.
constexpr int kWorthwhile = 384;
// Hits that the scalar unit notes while vectors are at work on one node.
constexpr int kMeanwhile = 24;

__mlu_func__ int CountBits(uint32_t v) {
  v -= (v >> 1) & 0x55555555u;
  v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
  v = (v + (v >> 4)) & 0x0f0f0f0fu;
  return static_cast<int>((v * 0x01010101u) >> 24);
}

// Whether testing `points` points with all boxes of a word is faster than testing the pairs that
// `masks` tell of.
__mlu_func__ bool HasManyPairs(const int32_t* masks, int count, int points) {
  constexpr int kPairCost = 11, kPointCost = 20;
  const int step = (count + kMaskSamples - 1) / kMaskSamples;
  int bits = 0;
  for (int i = 0; i < count; i += step) bits += CountBits(static_cast<uint32_t>(masks[i]));
  return bits * step * kPairCost > points * kPointCost;
}

// Arrays in NRAM, as bits: most of what happens to them is being moved.
struct Points {
  int32_t *x, *y, *z, *number;  // in the unit
  int count;
};

// Keeps those where `mask` is not 0.
__mlu_func__ void Keep(Points* p, const int32_t* mask) {
  __bang_filter(p->x, p->x, mask, p->count);
  __bang_filter(p->y, p->y, mask, p->count);
  __bang_filter(p->z, p->z, mask, p->count);
  p->count = __bang_filter(p->number, p->number, mask, p->count);
}

// The points of a node: those from `begin` on.
struct Range {
  int node, begin, count;
};

__mlu_func__ Points PointsOf(const Points& all, const Range& range) {
  const int i = range.begin;
  return {all.x + i, all.y + i, all.z + i, all.number + i, range.count};
}

// Divides the points of a node in place: first those of its first child, then those of its second.
__mlu_func__ void SplitPoints(FindMemory* m, const Node& node, const Points& p, const Range& range,
                              Range* first, Range* second) {
  const int n = range.count;
  const float plane = node.plane;
  const float* const at = reinterpret_cast<float*>(node.axis == 0   ? p.x
                                                   : node.axis == 1 ? p.y
                                                                    : p.z);
  float *const below = m->split, *const above = below + n;
  int32_t* const moved = Bits(above) + n;
  __bang_lt_scalar(below, at, plane, n);  // a NaN is in neither
  __bang_ge_scalar(above, at, plane, n);
  const int in_second = __bang_filter(moved, p.x, Bits(above), n);
  const int in_first = __bang_filter(p.x, p.x, Bits(below), n);
  CopyWords(p.x + in_first, moved, in_second);
  int32_t* const others[3] = {p.y, p.z, p.number};
  for (int32_t* v : others) {
    __bang_filter(moved, v, Bits(above), n);
    __bang_filter(v, v, Bits(below), n);
    CopyWords(v + in_first, moved, in_second);
  }
  *first = {2 * range.node, range.begin, in_first};
  *second = {2 * range.node + 1, range.begin + in_first, in_second};
}

// Tests the points with all boxes of a word. Those that lie in one need not go on.
__mlu_func__ void TestAll(FindMemory* m, Points* p, const BoxRecord* records, int boxes) {
  auto& all = m->all;
  const int n = p->count;
  float *const dx = all.t[0], *const dy = all.t[1], *const dz = all.t[2], *const a = all.t[3];
  float *const b = all.t[4], *const best = all.t[5];
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
  int32_t *const points = Bits(all.t[0]), *const places = Bits(all.t[1]);
  __bang_filter(points, p->number, Bits(best), n);
  const int hits = __bang_filter(places, Bits(best), Bits(best), n);
  if (hits == 0) return;
  __bang_not(best, best, n);
  __bang_float2int32_rn(places, reinterpret_cast<float*>(places), hits, 0);
  for (int axis = 0; axis < 3; ++axis) {
    __bang_filter(m->slabs[axis], m->slabs[axis], Bits(best), n);
  }
  Keep(p, Bits(best));
  for (int i = 0; i < hits; ++i) {
    Note(m->found, {points[i], static_cast<uint32_t>(m->records[boxes - places[i]].box)});
  }
}

// Groups of the words of an index in the two buffers.
struct Tables {
  const WordSlabs* words;
  int count;
  int in_buffer[2];  // numbers of the groups, or -1
  int current;
};

__mlu_func__ void LoadTables(FindMemory* m, Tables* tables, int buffer, int group) {
  const int first = group * kTables, rest = tables->count - first;
  tables->in_buffer[buffer] = group;
  __memcpy_async(m->tables[buffer], tables->words + first,
                 (rest < kTables ? rest : kTables) * sizeof(WordSlabs), GDRAM2NRAM);
}

// Makes a group the current one. The next one is loaded while something else goes on.
__mlu_func__ void NeedTables(FindMemory* m, Tables* tables, int group) {
  const int before = tables->current, now = before ^ 1, next = group + 1;
  if (tables->in_buffer[now] != group) {
    __sync_compute();  // lookups in what was there
    LoadTables(m, tables, now, group);
  }
  __sync_io();
  tables->current = now;
  if (next * kTables < tables->count) {
    __sync_compute();  // lookups in the buffer that it goes to
    LoadTables(m, tables, before, next);
  }
}

// Adds the leaf's points to the list, once for each word in whose boxes they may lie.
__mlu_func__ void ProcessLeaf(FindMemory* m, PairList* list, Tables* tables, const Node& node,
                              const Points& all) {
  const int boxes = node.boxes, first_word = node.first_word;
  const SlabAxis axes[3] = {node.slabs[0], node.slabs[1], node.slabs[2]};
  for (int begin = 0; begin < all.count; begin += kLeafPoints) {
    Points p = {all.x + begin, all.y + begin, all.z + begin, all.number + begin,
                all.count - begin < kLeafPoints ? all.count - begin : kLeafPoints};
    FindSlabs<3>({m->slabs[0], m->slabs[1], m->slabs[2]},
                 {reinterpret_cast<float*>(p.x), reinterpret_cast<float*>(p.y),
                  reinterpret_cast<float*>(p.z)},
                 axes, m->zeros, p.count);
    int word = first_word;
    for (int rest = boxes; rest > 0 && p.count > 0; rest -= kBoxesPerWord) {
      const int group = word / kTables;
      if (group != tables->in_buffer[tables->current]) {
        if (list->count >= kWorthwhile) ProcessList(m, list);
        NeedTables(m, tables, group);
      }
      if (list->count > kListPairs - kLeafPoints) ProcessList(m, list);
      const auto& slabs = m->tables[tables->current][word - group * kTables].boxes;
      int32_t *const mask = m->mask, *const other = m->other;
      int32_t* const masks = m->list.masks + list->count;
      __bang_lut_s32(mask, m->slabs[0], slabs[0], p.count, kSlabs);
      __bang_lut_s32(other, m->slabs[1], slabs[1], p.count, kSlabs);
      __bang_lut_s32(m->third, m->slabs[2], slabs[2], p.count, kSlabs);
      __bang_band(mask, mask, other, p.count);
      __bang_band(mask, mask, m->third, p.count);
      __bang_filter(m->list.points + list->count, p.number, mask, p.count);
      const int count = __bang_filter(masks, mask, mask, p.count);
      const int record = word++ * kBoxesPerWord;
      if (count == 0) continue;
      if (count * kMaskSamples > p.count && HasManyPairs(masks, count, p.count)) {
        TestAll(m, &p, list->records + record, rest < kBoxesPerWord ? rest : kBoxesPerWord);
        continue;
      }
      __bang_write_value(m->list.records + list->count, count, static_cast<float>(record - 127));
      list->count += count;
    }
  }
}

// Follows the tree of an index with some points.
__mlu_func__ void FollowTree(FindMemory* m, PairList* list, Tables* tables, const Points& points) {
  Range waiting[kMostDepth + 2];
  int length = 0;
  waiting[length++] = {1, 0, points.count};
  while (length > 0) {
    const Range range = waiting[--length];
    if (range.count == 0) continue;
    const Node& node = m->nodes[range.node];
    const Points here = PointsOf(points, range);
    if (node.axis == kLeaf) {
      ProcessLeaf(m, list, tables, node, here);
    } else {
      SplitPoints(m, node, here, range, &waiting[length + 1], &waiting[length]);
      length += 2;
    }
    NoteHits(m, list, kMeanwhile);
  }
}

// Of a tree of one leaf, whose points go through it part by part: the next part is loaded
// meanwhile.
__mlu_func__ void StreamPoints(FindMemory* m, PairList* list, Tables* tables, int count) {
  constexpr int kPointBytes = 3 * sizeof(float);
  float* const loaded = m->coordinates;
  int32_t* const number = m->numbers;
  int32_t* const x = number + kLeafPoints;  // and what follows
  int n = count < kLeafPoints ? count : kLeafPoints;
  __memcpy_async(loaded, list->points, n * kPointBytes, GDRAM2NRAM);
  for (int begin = 0; begin < count;) {
    const int next = begin + n, rest = count - next;
    const int next_n = rest < kLeafPoints ? rest : kLeafPoints;
    __sync_io();
    if (rest > 0) {
      __memcpy_async(loaded + 3 * next, list->points + 3 * next, next_n * kPointBytes, GDRAM2NRAM);
    }
    __bang_transpose(reinterpret_cast<float*>(x), loaded + 3 * begin, n, 3);
    __bang_incseq(number, n);
    __bang_add_scalar(number, number, begin, n);
    ProcessLeaf(m, list, tables, m->nodes[1], {x, x + n, x + 2 * n, number, n});
    NoteHits(m, list, kMeanwhile);
    begin = next;
    n = next_n;
  }
}

__mlu_func__ void FindUnit(FindMemory* m, const PointsInBoxesMlu& call, int64_t batch,
                           int64_t begin, int count) {
  const float* const points = call.all_points + (batch * call.points + begin) * 3;
  const int64_t all_words = static_cast<int64_t>(kWordsPerLeaf) << call.depth;
  for (int64_t piece = 0; piece < call.pieces; ++piece) {
    const int64_t index = batch * call.pieces + piece;
    PairList list = {0, 0, points, call.indexes.records + index * all_words * kBoxesPerWord};
    Tables tables = {
        call.indexes.words + index * all_words, static_cast<int>(all_words), {-1, -1}, 0};
    __sync_compute();  // of the points or boxes before
    LoadTables(m, &tables, 1, 0);
    __memcpy_async(m->nodes, call.indexes.nodes + (index << (call.depth + 1)),
                   sizeof(Node) << (call.depth + 1), GDRAM2NRAM);
    if (piece == 0) __bang_write_value(m->found, count, kNone);
    if (call.pieces == 1 && call.depth == 0) {
      StreamPoints(m, &list, &tables, count);
    } else {
      // Behind the coordinates, over the numbers and what is not in use yet.
      float* const loaded = m->coordinates + 3 * count;
      __memcpy(loaded, points, 3 * count * sizeof(float), GDRAM2NRAM);
      __bang_transpose(m->coordinates, loaded, count, 3);
      int32_t* const x = Bits(m->coordinates);
      Points p = {x, x + count, x + 2 * count, m->numbers, count};
      __bang_incseq(p.number, count);
      if (piece > 0) {
        __bang_eq_scalar(Bits(m->split), reinterpret_cast<int32_t*>(m->found), -1, count);
        Keep(&p, Bits(m->split));
      }
      FollowTree(m, &list, &tables, p);
    }
    ProcessList(m, &list);
    NoteHits(m, &list, kPairs);
  }
  if (call.pieces == 0) __bang_write_value(m->found, count, kNone);
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
