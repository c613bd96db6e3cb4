// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <detops/detops.hpp>

int main() {
  const float boxes[3][9] = {{0, 0, 1, 0, 1, 1, 0, 1, 1},  // x1 y1 ... x4 y4 score
                             {.5f, .5f, 1.5f, .5f, 1.5f, 1.5f, .5f, 1.5f, 2},
                             {0, 0, -.5f, 0, -.5f, -.5f, 0, -.5f, 3}};
  detops::Context context;
  const detops::Tensor kept = detops::poly_nms(context, {&boxes[0][0], {3, 9}}, 0.1f);
  std::printf("kept %d of 3:", static_cast<int>(kept.size()));
  for (int index : kept.to_vector<int32_t>()) std::printf(" %d", index);
  std::printf("\n");
}
