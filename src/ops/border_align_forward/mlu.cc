// SPDX-License-Identifier: Apache-2.0
#include "ops/border_align_forward/mlu.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/border_align_forward/mlu_cut.h"
#include "ops/border_align_forward/mlu_transpose.h"
#include "ops/border_align_forward/plan.h"
#include "runtime/mlu/launch.h"
#include "runtime/plugin.h"

namespace detops::ops {
namespace {

BorderAlignAxis AxisOf(int64_t size) {
  BorderAlignAxis axis = {size, static_cast<float>(size), static_cast<float>(size - 1),
                          static_cast<float>(size - 1)};
  constexpr float kMost = 0x1p63f;  // not to be converted back
  if (axis.last_or_above < kMost && static_cast<int64_t>(axis.last_or_above) < size - 1) {
    axis.last_or_above = std::nextafter(axis.last_or_above, std::numeric_limits<float>::infinity());
  }
  return axis;
}

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

template <class Cut>
void CutWork(BorderAlignMlu& call) {
  const int64_t samples = int64_t{1} + call.pool_size;
  const int64_t blocks = DivideUp(call.channels, Cut::kMostChannels);
  call.blocks = static_cast<int>(blocks);
  call.block = static_cast<int>(DivideUp(call.channels, blocks));
  call.batch = std::min({Cut::kVector / call.block, Cut::kWeights / call.block, Cut::kMostBoxes});
  const int64_t most_batches =
      std::min<int64_t>(Cut::kSamples / call.batch / samples, Cut::kMostBoxes / call.batch);
  call.group = call.batch * static_cast<int>(std::max<int64_t>(most_batches, 1));
  call.samples = static_cast<int>(std::min<int64_t>(samples, Cut::kSamples / call.group));
}

bool IsNchw(const BorderAlignForwardPlan& plan) { return plan.layout == MLUOP_LAYOUT_NCHW; }

// NCHW is transposed on the way in and on the way out.
struct Workspace {
  void *input, *output;
  int32_t* argmax;

  Workspace(core::WorkspaceLayout& layout, const BorderAlignForwardPlan& plan) : Workspace() {
    if (!IsNchw(plan)) return;
    const int64_t maps = core::CheckedMul(plan.images, 4 * plan.channels, "workspace");
    const int64_t inputs =
        core::CheckedMul(core::CheckedMul(maps, plan.height, "workspace"), plan.width, "workspace");
    const int64_t results = core::CheckedMul(maps, plan.boxes, "workspace");
    const auto elements = [&](int64_t count) -> void* {
      if (plan.dtype == MLUOP_DTYPE_HALF) return layout.Array<uint16_t>(count);
      return layout.Array<float>(count);
    };
    input = elements(inputs);
    output = elements(results);
    argmax = layout.Array<int32_t>(results);
  }

 private:
  Workspace() : input(nullptr), output(nullptr), argmax(nullptr) {}
};

int64_t WorkspaceBytes(const BorderAlignForwardPlan& plan, const runtime::Device&) {
  core::WorkspaceLayout layout;
  const Workspace workspace(layout, plan);
  return layout.Bytes();
}

void Run(const BorderAlignForwardPlan& plan, const BorderAlignForwardArgs& args, void* memory,
         const runtime::Launch& call) {
  const mlu::Launcher launch(call);
  core::WorkspaceLayout layout(memory);
  const Workspace workspace(layout, plan);
  BorderAlignMlu parameters = {};
  parameters.images = plan.images;
  parameters.channels = plan.channels;
  parameters.boxes = plan.boxes;
  parameters.axes[0] = AxisOf(plan.width);
  parameters.axes[1] = AxisOf(plan.height);
  parameters.pool_size = plan.pool_size;
  parameters.half = plan.dtype == MLUOP_DTYPE_HALF;
  parameters.input = IsNchw(plan) ? workspace.input : args.input;
  parameters.box_list = args.boxes;
  parameters.output = IsNchw(plan) ? workspace.output : args.output;
  parameters.argmax = IsNchw(plan) ? workspace.argmax : args.argmax_idx;
  launch("border_align_forward", [&](const mlu::Grid& grid, auto arch) {
    const int bytes = parameters.half ? 2 : 4;
    const int64_t maps = 4 * plan.channels, pixels = plan.height * plan.width;
    const auto transpose = [&](const void* src, void* dst, int64_t rows, int64_t columns,
                               int element_bytes) {
      border_align::LaunchTranspose<arch()>(grid,
                                            {src, dst, plan.images, rows, columns, element_bytes});
    };
    if (IsNchw(plan)) transpose(args.input, workspace.input, maps, pixels, bytes);
    CutWork<border_align::Cut<arch()>>(parameters);
    LaunchBorderAlign<arch()>(grid, parameters);
    if (IsNchw(plan)) {
      transpose(workspace.output, args.output, 4 * plan.boxes, plan.channels, bytes);
      transpose(workspace.argmax, args.argmax_idx, 4 * plan.boxes, plan.channels, 4);
    }
  });
}

}  // namespace
}  // namespace detops::ops

template <>
const detops::runtime::Implementation<detops::ops::BorderAlignForward>&
detops::runtime::PluginImplementation() {
  using Plan = ops::BorderAlignForwardPlan;
  static const Implementation<ops::BorderAlignForward> implementation = {
      "mlu:bang", UsableEverywhere, SupportsAll<Plan>, ops::WorkspaceBytes, ops::Run};
  return implementation;
}
