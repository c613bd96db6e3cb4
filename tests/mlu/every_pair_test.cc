// SPDX-License-Identifier: Apache-2.0
//
// The simulated time of points_in_boxes as its design document plans it, to compare ours with.
#include "mlu/every_pair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "support/environment.h"
#include "support/random_data.h"

namespace detops::test {
namespace {

struct Measured {
  std::vector<int32_t> indices;
  float microseconds;
};

Measured TestEveryPair(int device, int cores, const std::vector<float>& points,
                       const std::vector<float>& boxes) {
  EXPECT_EQ(cnrtSetDevice(device), cnrtSuccess);
  int isa = 0;
  EXPECT_EQ(cnrtDeviceGetAttribute(&isa, cnrtAttrISAVersion, device), cnrtSuccess);
  const size_t count = points.size() / 3;
  void* memory[3] = {};
  const size_t bytes[3] = {points.size() * 4, boxes.size() * 4, count * 4};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cnrtMalloc(&memory[i], bytes[i]), cnrtSuccess);
  const auto host = [](const std::vector<float>& v) { return const_cast<float*>(v.data()); };
  EXPECT_EQ(cnrtMemcpy(memory[0], host(points), bytes[0], cnrtMemcpyHostToDev), cnrtSuccess);
  EXPECT_EQ(cnrtMemcpy(memory[1], host(boxes), bytes[1], cnrtMemcpyHostToDev), cnrtSuccess);
  cnrtQueue_t queue = nullptr;
  cnrtNotifier_t begin = nullptr, end = nullptr;
  EXPECT_EQ(cnrtQueueCreate(&queue), cnrtSuccess);
  EXPECT_EQ(cnrtNotifierCreate(&begin), cnrtSuccess);
  EXPECT_EQ(cnrtNotifierCreate(&end), cnrtSuccess);
  EXPECT_EQ(cnrtPlaceNotifier(begin, queue), cnrtSuccess);
  (isa / 100 == 5 ? LaunchEveryPair<592> : LaunchEveryPair<372>)(queue, cores,
                                                                 static_cast<float*>(memory[0]),
                                                                 static_cast<int64_t>(count),
                                                                 static_cast<float*>(memory[1]),
                                                                 static_cast<int>(boxes.size() / 7),
                                                                 static_cast<int32_t*>(memory[2]));
  EXPECT_EQ(cnrtPlaceNotifier(end, queue), cnrtSuccess);
  EXPECT_EQ(cnrtQueueSync(queue), cnrtSuccess);
  Measured measured = {std::vector<int32_t>(count), 0.0f};
  EXPECT_EQ(cnrtNotifierDuration(begin, end, &measured.microseconds), cnrtSuccess);
  EXPECT_EQ(cnrtMemcpy(measured.indices.data(), memory[2], bytes[2], cnrtMemcpyDevToHost),
            cnrtSuccess);
  EXPECT_EQ(cnrtNotifierDestroy(begin), cnrtSuccess);
  EXPECT_EQ(cnrtNotifierDestroy(end), cnrtSuccess);
  EXPECT_EQ(cnrtQueueDestroy(queue), cnrtSuccess);
  for (void* m : memory) EXPECT_EQ(cnrtFree(m), cnrtSuccess);
  return measured;
}

// The document: 952 us on 16 cores with 32 operations per cycle and 1 GHz, as the MLU370 has them.
// DETOPS_TEST_POINTS and DETOPS_TEST_BOXES: other sizes.
TEST(EveryPair, SimulatedTime) {
  const int64_t points = CountFrom("DETOPS_TEST_POINTS", 272414);
  const int64_t boxes = CountFrom("DETOPS_TEST_BOXES", 66);
  Rng rng(47);
  const std::vector<float> all_points = RandomPoints(rng, points);
  const std::vector<float> all_boxes = RandomBoxes3d(rng, boxes);
  unsigned devices = 0;
  ASSERT_EQ(cnrtGetDeviceCount(&devices), cnrtSuccess);
  for (int device = 0; device < static_cast<int>(devices); ++device) {
    cnrtDeviceProp_t properties;
    ASSERT_EQ(cnrtGetDeviceProperties(&properties, device), cnrtSuccess);
    const int all = properties.clusterCount * properties.McorePerCluster;
    for (const int cores : {16, all}) {
      const Measured measured = TestEveryPair(device, cores, all_points, all_boxes);
      std::printf("%s, %d cores: %lld x %lld in %.1f us\n", properties.name, cores,
                  static_cast<long long>(points), static_cast<long long>(boxes),
                  measured.microseconds);
      EXPECT_GT(std::ranges::count_if(measured.indices, [](int32_t i) { return i >= 0; }), 0);
    }
  }
}

}  // namespace
}  // namespace detops::test
