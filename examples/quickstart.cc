// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <detops/detops.hpp>

int main() {
  const float boxes[3][4] = {{0, 0, 10, 10}, {1, 0, 11, 10}, {20, 0, 30, 10}};  // x1 y1 x2 y2
  const float scores[3] = {.7f, .8f, .9f};
  detops::Context context;  // Context("cuda:0") for a GPU
  const detops::Tensor kept = detops::nms(context, {&boxes[0][0], {3, 4}}, {scores, {3}}, 0.5f);
  for (int index : kept.to_vector<int32_t>()) std::printf(" %d", index);  // 2 1
  std::printf("\n");
  try {
    detops::nms(context, {&boxes[0][0], {3, 4}}, {scores, {2}}, 0.5f);
  } catch (const detops::Error& error) {
    std::printf("%s\n", error.what());  // detops::nms: scores: dim 0 is 2, expected 3
  }
}
