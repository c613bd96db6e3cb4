// SPDX-License-Identifier: Apache-2.0
//
// Which lists of the grid are left to the tree.
#include <algorithm>
#include <bit>
#include <limits>

#include "ops/points_in_boxes/footprint.h"
#include "ops/points_in_boxes/grid.h"

namespace detops::ops::points_in_boxes {
namespace {

// The most entries per box in long lists that the tree splits cell by cell in any case.
constexpr int64_t kMostLongEntries = 4;
// A point that is in none of the first boxes of a list is taken to cost all of it.
constexpr int32_t kMostTestsOfSample = 64;

int32_t LengthOf(const int32_t* list) {
  int32_t length = 1;
  while (list[length - 1] >= 0) ++length;
  return length;
}

}  // namespace

std::span<SamplePoint> Grid::TakeSamples(const float* points, int64_t point_count) {
  const int64_t count = Tree::SampleCount(point_count);
  uint64_t state = 0;
  for (int64_t i = 0; i < count; ++i) {
    // Any of the `step` points, so that no order of the points can hide most of them.
    const int64_t step = point_count / count;
    const float* p = points + 3 * (i * step);
    state = (state + std::bit_cast<uint32_t>(p[0])) * 6364136223846793005u + 1442695040888963407u;
    p += 3 * static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(step));
    tree_.samples()[i] = {{p[0], p[1], p[2]}, y_.Cell(p[1]) * x_.cells + x_.Cell(p[0]), 1.0f};
  }
  const std::span<SamplePoint> samples(tree_.samples(), static_cast<size_t>(count));
  std::sort(samples.begin(), samples.end(),
            [](const SamplePoint& a, const SamplePoint& b) { return a.cell < b.cell; });
  return samples;
}

// How many tests the samples, all of one cell, take. Sets their shares.
double Grid::Test(std::span<SamplePoint> samples, const FlatBox* boxes, Place place) {
  if (place == kNoBoxes) return 0.0;
  const int32_t* const list = lists_ + place;
  const auto length = static_cast<float>(LengthOf(list));
  double tests = 0.0;
  for (SamplePoint& p : samples) {
    int32_t tested = 0;
    bool held = false, last = false;
    while (!held && !last && tested < kMostTestsOfSample) {
      const int32_t entry = list[tested++];
      held = math::Holds(boxes[BoxOf(entry)], p.at[0], p.at[1], p.at[2]);
      last = entry < 0;
    }
    work_ += tested;
    p.share = held ? static_cast<float>(tested) / length : 1.0f;
    tests += p.share * length;
  }
  return tests;
}

template <class Body>
void Grid::ForCells(std::span<SamplePoint> samples, const Body& body) {
  for (auto end = samples.begin(); end != samples.end();) {
    const auto begin = end;
    while (end != samples.end() && end->cell == begin->cell) ++end;
    body(begin->cell, std::span<SamplePoint>(begin, end));
  }
}

void Grid::SplitLongLists(const FlatBox* boxes, int64_t count, const float* points,
                          int64_t point_count) {
  const std::span<SamplePoint> samples = TakeSamples(points, point_count);
  double tests = 0.0;
  ForCells(samples, [&](int32_t cell, std::span<SamplePoint> here) {
    tests += Test(here, boxes, heads_[cell]);
  });
  if (tests <= Tree::kShort * static_cast<double>(samples.size())) return;
  const double points_per_sample =
      static_cast<double>(point_count) / static_cast<double>(samples.size());
  // Where cells tell most boxes apart, the tree does the rest cell by cell. Where they don't, it
  // would have to split the same boxes in many cells.
  if (long_entries_ > kMostLongEntries * count && long_entries_ > long_lists_ * (count / 16)) {
    SplitWhole(boxes, count, samples, points_per_sample);
    return;
  }
  tree_.Clear(lists_, entries_, max_entries_ + max_tree_entries_);
  ForCells(samples, [&](int32_t cell, std::span<SamplePoint> here) {
    if (heads_[cell] == kNoBoxes) return;
    const int32_t x = cell % x_.cells, y = cell / x_.cells;
    tree_.Add(&heads_[cell], LengthOf(lists_ + heads_[cell]),
              {RoundDown(x_.Low(x)), RoundDown(y_.Low(y))},
              {RoundUp(x_.High(x)), RoundUp(y_.High(y))}, here);
  });
  tree_.Split(boxes, bounds_, points_per_sample);
}

// All cells with boxes share one list of all boxes, and its tree.
void Grid::SplitWhole(const FlatBox* boxes, int64_t count, std::span<SamplePoint> samples,
                      double points_per_sample) {
  const auto end = std::partition(samples.begin(), samples.end(),
                                  [&](const SamplePoint& p) { return heads_[p.cell] != kNoBoxes; });
  samples = {samples.begin(), end};
  entries_ = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (!bounds_[i].Empty()) lists_[entries_++] = static_cast<int32_t>(i);
  }
  lists_[entries_ - 1] = ~lists_[entries_ - 1];
  Place root = 0;
  Test(samples, boxes, root);
  tree_.Clear(lists_, entries_, max_entries_ + max_tree_entries_);
  constexpr float kEverywhere = std::numeric_limits<float>::infinity();
  tree_.Add(&root, entries_, {-kEverywhere, -kEverywhere}, {kEverywhere, kEverywhere}, samples);
  tree_.Split(boxes, bounds_, points_per_sample);
  for (int32_t cell = 0; cell < x_.cells * y_.cells; ++cell) {
    if (heads_[cell] != kNoBoxes) heads_[cell] = root;
  }
}

}  // namespace detops::ops::points_in_boxes
