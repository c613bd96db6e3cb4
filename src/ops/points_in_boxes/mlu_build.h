// SPDX-License-Identifier: Apache-2.0
//
// The kernel that builds the indexes. A task follows the tree from the root to its leaf, keeping
// those boxes that extend into the part of space it comes to; all tasks decide alike. The first
// task below a node writes it.
#pragma once

#include "ops/points_in_boxes/mlu_box.h"
#include "ops/points_in_boxes/mlu_slabs.h"

namespace detops::ops::points_in_boxes {
namespace {

constexpr int kBoundsAtATime = 1024;
constexpr int kSamples = 32;
// A node of so few boxes is a leaf.
constexpr int kFewBoxes = 64;

struct BuildMemory {
  // Of the boxes in the current part of space, in the order of their numbers.
  float low[3][kMostBoxes], high[3][kMostBoxes];
  int32_t number[kMostBoxes];  // in the piece
  float mask[kMostBoxes];
  AngleTable angles;
  Node node;
  float zeros[kSamples * kSamples];
  int32_t slabs[kSlabs];
  union {
    struct {
      BoxScratch<kBoundsAtATime> boxes;
      float bounds[7][kBoundsAtATime];  // low, high, valid
      int32_t number[kBoundsAtATime];
      float scratch[8 * kBoundsAtATime];
    } load;
    struct {
      float values[kSamples], other[kSamples], ranks[kSamples], below[kSamples];
      float rows[kSamples * kSamples], columns[kSamples * kSamples];
      float best[32];
    } sample;
    struct {
      int32_t number[kSlabs * kBoxesPerWord];  // of the slab, for each box
      int32_t inside[kSlabs * kBoxesPerWord], other[kSlabs * kBoxesPerWord];
      int32_t low[kBoxesPerWord], high[kBoxesPerWord];
      int32_t bits[kBoxesPerWord];  // 1, 2, 4, ...
    } slab;
    RecordScratch records;
  };
};

// Loads the boxes of a piece; returns how many may contain points.
__mlu_func__ int LoadBoxes(BuildMemory* m, const float* boxes, int64_t count, bool is_first) {
  auto& load = m->load;
  float* const low[3] = {load.bounds[0], load.bounds[1], load.bounds[2]};
  float* const high[3] = {load.bounds[3], load.bounds[4], load.bounds[5]};
  float* const valid = load.bounds[6];
  int kept = 0;
  for (int64_t begin = 0; begin < count; begin += kBoundsAtATime) {
    const int n = count - begin < kBoundsAtATime ? count - begin : kBoundsAtATime;
    __sync_compute();  // of those before
    __memcpy_async(load.boxes.boxes, boxes + begin * kBoxFloats, n * kBoxFloats * sizeof(float),
                   GDRAM2NRAM);
    // What does not depend on the boxes, meanwhile.
    if (is_first && begin == 0) MakeAngleTable(&m->angles);
    __sync_io();
    __bang_transpose(load.boxes.columns, load.boxes.boxes, n, kBoxFloats);
    FindBounds(low, high, valid, load.boxes.columns, &m->angles, load.scratch, n);
    __bang_incseq(load.number, n);
    __bang_add_scalar(load.number, load.number, static_cast<int32_t>(begin), n);
    for (int axis = 0; axis < 3; ++axis) {
      __bang_filter(m->low[axis] + kept, low[axis], valid, n);
      __bang_filter(m->high[axis] + kept, high[axis], valid, n);
    }
    kept += __bang_filter(m->number + kept, load.number, Bits(valid), n);
  }
  return kept;
}

// Some of the `count` values at even distances, huge ones behind them. Returns how many.
__mlu_func__ int TakeSample(float* sample, const float* values, int count) {
  const int taken = count < kSamples ? count : kSamples;
  const int step = count / taken;
  __memcpy(sample, values, sizeof(float), NRAM2NRAM, sizeof(float), step * sizeof(float),
           taken - 1);
  if (taken < kSamples) __bang_write_value(sample + taken, kSamples - taken, 0x1.fffffep127f);
  return taken;
}

// That of the values which has the highest number of smaller ones, at most `rank`.
__mlu_func__ float ValueOfRank(BuildMemory* m, const float* values, int rank) {
  auto& s = m->sample;
  constexpr int kAll = kSamples * kSamples;
  // Column i compares value i with all; they are the rows.
  __bang_cycle_add(s.columns, m->zeros, values, kAll, kSamples);
  __bang_transpose(s.rows, s.columns, kSamples, kSamples);
  __bang_cycle_lt(s.rows, s.rows, values, kAll, kSamples);
  __bang_sumpool(s.ranks, s.rows, kSamples, kSamples, 1, kSamples, 1);
  __bang_le_scalar(s.below, s.ranks, static_cast<float>(rank), kSamples);
  __bang_add_scalar(s.ranks, s.ranks, 1.0f, kSamples);
  __bang_mul(s.ranks, s.ranks, s.below, kSamples);
  __bang_argmax(s.best, s.ranks, kSamples);
  return values[reinterpret_cast<const uint32_t*>(s.best)[1]];
}

struct Plane {
  int axis;  // kLeaf: none is good
  float at;
};

// At a median of the boxes' centres, along the axis where the fewest boxes extend to both sides.
__mlu_func__ Plane ChoosePlane(BuildMemory* m, int count, int room) {
  Plane best = {kLeaf, 0.0f};
  int least = count + count / 2 + count / 8;
  for (int axis = 0; axis < 3; ++axis) {
    // Good enough: scenes are flat, most often.
    if (axis == 2 && least < count + count / 4) break;
    float* const centre = m->sample.values;
    const int taken = TakeSample(m->sample.other, m->low[axis], count);
    TakeSample(centre, m->high[axis], count);
    __bang_mul_scalar(centre, centre, 0.5f, kSamples);
    __bang_mul_scalar(m->sample.other, m->sample.other, 0.5f, kSamples);
    __bang_add(centre, centre, m->sample.other, kSamples);
    const float at = ValueOfRank(m, centre, taken / 2);
    if (!(at - at == 0.0f)) continue;
    __bang_lt_scalar(m->mask, m->low[axis], at, count);
    const int below = __bang_count(m->mask, count);
    __bang_ge_scalar(m->mask, m->high[axis], at, count);
    const int above = __bang_count(m->mask, count);
    if (below > room || above > room || below + above >= least) continue;
    least = below + above;
    best = {axis, at};
  }
  return best;
}

// Keeps the boxes that extend to one side of the plane; returns their number.
__mlu_func__ int KeepSide(BuildMemory* m, int count, const Plane& plane, bool above) {
  if (above) {
    __bang_ge_scalar(m->mask, m->high[plane.axis], plane.at, count);
  } else {
    __bang_lt_scalar(m->mask, m->low[plane.axis], plane.at, count);
  }
  for (int axis = 0; axis < 3; ++axis) {
    __bang_filter(m->low[axis], m->low[axis], m->mask, count);
    __bang_filter(m->high[axis], m->high[axis], m->mask, count);
  }
  return __bang_filter(m->number, m->number, Bits(m->mask), count);
}

// Slabs between the lowest and the highest boxes but for some, which may lie far from the others.
// The first and the last slab are left to what lies beyond.
__mlu_func__ void PlaceSlabs(BuildMemory* m, int axis, int count) {
  const int taken = TakeSample(m->sample.values, m->low[axis], count);
  TakeSample(m->sample.other, m->high[axis], count);
  const int beyond = taken / 12;
  const float low = ValueOfRank(m, m->sample.values, beyond);
  const float high = ValueOfRank(m, m->sample.other, taken - 1 - beyond);
  const float scale = static_cast<float>(kSlabs - 3) / (high - low);
  m->node.slabs[axis].origin = low - 1.5f / scale;
  m->node.slabs[axis].scale = scale;
}

// The number of the slab for each slab and box of a word.
__mlu_func__ void NumberSlabs(BuildMemory* m) {
  float* const number = reinterpret_cast<float*>(m->slab.other);
  __bang_incseq(number, kSlabs * kBoxesPerWord);
  __bang_mul_scalar(number, number, 1.0f / kBoxesPerWord, kSlabs * kBoxesPerWord);
  __bang_float2int32_tz(m->slab.number, number, kSlabs * kBoxesPerWord, 0);
  for (int i = 0; i < kBoxesPerWord; ++i) m->slab.bits[i] = static_cast<int32_t>(1u << i);
}

// Which of the `count` boxes from `first` on extend into each slab.
__mlu_func__ void FillSlabs(BuildMemory* m, int axis, int first, int count) {
  auto& s = m->slab;
  constexpr int kAll = kSlabs * kBoxesPerWord;
  const SlabAxis& along = m->node.slabs[axis];
  FindSlabs<2>({s.low, s.high}, {m->low[axis] + first, m->high[axis] + first}, {along, along},
               m->zeros, count);
  if (count < kBoxesPerWord) {
    __bang_write_value(s.low + count, kBoxesPerWord - count, static_cast<int32_t>(kSlabs));
    __bang_write_value(s.high + count, kBoxesPerWord - count, static_cast<int32_t>(-1));
  }
  __bang_cycle_ge(s.inside, s.number, s.low, kAll, kBoxesPerWord);
  __bang_cycle_le(s.other, s.number, s.high, kAll, kBoxesPerWord);
  __bang_cycle_mul(s.inside, s.inside, s.bits, kAll, kBoxesPerWord);
  __bang_mul(s.inside, s.inside, s.other, kAll);
  // Rows of boxes now, which are joined in halves.
  __bang_transpose(s.other, s.inside, kSlabs, kBoxesPerWord);
  for (int half = kAll / 2; half > kSlabs; half /= 2) {
    __bang_bor(s.other, s.other, s.other + half, half);
  }
  __bang_bor(m->slabs, s.other, s.other + kSlabs, kSlabs);
}

struct BuildTask {
  int64_t index;  // of all batches and pieces
  int leaf, part;
};

// The part of the task of what the `count` boxes of a leaf need: for each word its slabs along
// three axes, and its records.
__mlu_func__ void BuildLeaf(BuildMemory* m, const PointsInBoxesMlu& call, const BuildTask& task,
                            Node* node, int count, const float* boxes, int32_t first_box) {
  const int64_t first_word = (task.index << call.depth) * kWordsPerLeaf + task.leaf * kWordsPerLeaf;
  WordSlabs* const slabs = call.indexes.words + first_word;
  BoxRecord* const records = call.indexes.records + first_word * kBoxesPerWord;
  const int words = (count + kBoxesPerWord - 1) / kBoxesPerWord;
  bool has_numbers = false, has_slabs[3] = {false, false, false};
  for (int job = task.part; job < 3 * words; job += call.tasks_per_leaf) {
    const int axis = job % 3, word = job / 3, first = word * kBoxesPerWord;
    if (!has_slabs[axis]) {
      PlaceSlabs(m, axis, count);
      has_slabs[axis] = true;
      has_numbers = false;  // they share memory
    }
    if (!has_numbers) NumberSlabs(m);
    has_numbers = true;
    if (word == 0) {
      __memcpy(&node->slabs[axis], &m->node.slabs[axis], sizeof(m->node.slabs[axis]), NRAM2GDRAM);
    }
    FillSlabs(m, axis, first, count - first < kBoxesPerWord ? count - first : kBoxesPerWord);
    __memcpy(slabs[word].boxes[axis], m->slabs, sizeof(m->slabs), NRAM2GDRAM);
  }
  for (int word = 0; word < words; ++word) {
    if ((3 * words + word) % call.tasks_per_leaf != task.part) continue;
    const int first = word * kBoxesPerWord;
    const int n = count - first < kBoxesPerWord ? count - first : kBoxesPerWord;
    FindRecords(m->number + first, n, boxes, first_box, &m->angles, &m->records);
    __memcpy(records + first, m->records.records, n * sizeof(BoxRecord), NRAM2GDRAM);
  }
}

__mlu_func__ void Build(BuildMemory* m, const PointsInBoxesMlu& call, const BuildTask& task,
                        bool is_first) {
  const int64_t batch = task.index / call.pieces, piece = task.index % call.pieces;
  const int64_t first_box = piece * call.boxes_per_piece, rest = call.boxes - first_box;
  const int64_t boxes_here = rest < call.boxes_per_piece ? rest : call.boxes_per_piece;
  const float* const boxes = call.all_boxes + (batch * call.boxes + first_box) * kBoxFloats;
  int count = LoadBoxes(m, boxes, boxes_here, is_first);

  int levels = call.depth;  // below the node
  for (;; --levels) {
    Node* const node = call.indexes.nodes + (task.index << (call.depth + 1)) +
                       (1 << (call.depth - levels)) + (task.leaf >> levels);
    Plane plane = {kLeaf, 0.0f};
    if (levels > 0 && count > kFewBoxes) {
      plane = ChoosePlane(m, count, kWordsPerLeaf * kBoxesPerWord << (levels - 1));
    }
    // The first task below a node writes it, and has the leaf if it is one.
    const bool is_first_below = (task.leaf & ((1 << levels) - 1)) == 0;
    if (is_first_below && task.part == 0) {
      m->node.axis = plane.axis;
      m->node.plane = plane.at;
      m->node.boxes = count;
      m->node.first_word = task.leaf * kWordsPerLeaf;
      __memcpy(node, &m->node, kNodeHead, NRAM2GDRAM);
    }
    if (plane.axis == kLeaf) {
      if (is_first_below) {
        BuildLeaf(m, call, task, node, count, boxes, static_cast<int32_t>(first_box));
      }
      return;
    }
    count = KeepSide(m, count, plane, ((task.leaf >> (levels - 1)) & 1) != 0);
  }
}

__mlu_func__ void BuildAll(BuildMemory* m, const PointsInBoxesMlu& call) {
  __bang_write_zero(m->zeros, kSamples * kSamples);
  const int64_t tasks_per_index = static_cast<int64_t>(call.tasks_per_leaf) << call.depth;
  const int64_t tasks = call.batches * call.pieces * tasks_per_index;
  for (int64_t t = taskId; t < tasks; t += taskDim) {
    const int rest = t % tasks_per_index;
    Build(m, call, {t / tasks_per_index, rest / call.tasks_per_leaf, rest % call.tasks_per_leaf},
          t == taskId);
  }
}

}  // namespace
}  // namespace detops::ops::points_in_boxes
