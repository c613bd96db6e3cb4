// SPDX-License-Identifier: Apache-2.0
#include "ops/border_align_forward/mlu.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/border_align_forward/mlu_cut.h"
#include "ops/border_align_forward/mlu_sort.h"
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

// How many boxes and samples are processed together, for vectors of which each has the channels of
// a box, and weights that are repeated `lanes` times.
template <class Cut>
void CutBoxes(BorderAlignMlu& call, int channels, int lanes) {
  const int64_t samples = int64_t{1} + call.pool_size;
  call.batch = std::min({Cut::kVector / channels, Cut::kWeights / lanes, Cut::kMostBoxes});
  const int64_t most_batches =
      std::min<int64_t>(Cut::kSamples / call.batch / samples, Cut::kMostBoxes / call.batch);
  call.group = call.batch * static_cast<int>(std::max<int64_t>(most_batches, 1));
  call.samples = static_cast<int>(std::min<int64_t>(samples, Cut::kSamples / call.group));
}

// Bands of maps in SRAM, if there is room for two lines of each, and if that reads less than half
// as much as the samples' corners are.
template <class Cut>
bool CutIntoBands(BorderAlignMlu& call, int clusters) {
  constexpr int64_t kExact = 1 << 24;  // lines and pixels are counted in floats
  const int64_t chunks = DivideUp(call.block, border_align::kLanes);
  const int64_t lanes = DivideUp(call.block, chunks);
  const int64_t pixel_bytes = chunks * lanes * int64_t{sizeof(float)};
  const int64_t maps = call.images * 2 * call.blocks;  // of borders along one axis
  double loaded = 0;
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t pixels = call.axes[axis].size, lines = call.axes[1 - axis].size;
    if (pixels >= kExact || lines >= kExact) return false;
    const int64_t fit = Cut::kSramBytes / ((pixels + 3) * pixel_bytes);
    if (fit < 2) return false;
    const int64_t most_lines = std::min(fit - 1, lines);
    int64_t bands = DivideUp(lines, most_lines);
    // Where they are several, enough for clusters not to load the same ones, but not too narrow:
    // each has one line more than samples lie on.
    if (bands > 1) bands = std::max(bands, std::min(lines / 8, DivideUp(2 * clusters, maps)));
    if (bands > border_align::kMostBands) return false;
    call.bands[axis] = static_cast<int>(bands);
    call.band_lines[axis] = static_cast<int>(DivideUp(lines, bands));
    const double band_pixels =
        static_cast<double>(call.band_lines[axis] + 1) * static_cast<double>(pixels);
    loaded += static_cast<double>(maps * bands + clusters) * band_pixels;
  }
  const double corners = 4.0 * (1.0 + call.pool_size) * static_cast<double>(call.boxes) * 2 *
                         static_cast<double>(maps);
  if (2 * loaded > corners) return false;
  // A box's place in the list in bytes has 32 bits.
  if (call.bands[0] + call.bands[1] > 2 && call.boxes >= int64_t{1} << 28) return false;
  CutBoxes<Cut>(call, static_cast<int>(chunks * lanes), static_cast<int>(lanes));
  return true;
}

template <class Cut>
void CutWork(BorderAlignMlu& call, int clusters) {
  const int64_t blocks = DivideUp(call.channels, Cut::kMostChannels);
  call.blocks = static_cast<int>(blocks);
  call.block = static_cast<int>(DivideUp(call.channels, blocks));
  call.in_sram = CutIntoBands<Cut>(call, clusters);
  if (!call.in_sram) CutBoxes<Cut>(call, call.block, call.block);
}

void CutWork(BorderAlignMlu& call, const runtime::Device& device) {
  const auto& card = static_cast<const runtime::MluDevice&>(device);
  if (card.arch() == 592) {
    CutWork<border_align::Cut<592>>(call, card.clusters());
  } else {
    CutWork<border_align::Cut<372>>(call, card.clusters());
  }
  const int most_bands = std::max(call.bands[0], call.bands[1]);
  if (!call.in_sram || most_bands == 1) return;
  constexpr int64_t kMostSlices = border_align::kMostCounts / border_align::kMostBands;
  call.slice = std::max<int64_t>(DivideUp(call.boxes, kMostSlices), 1024);
  call.slices = static_cast<int>(DivideUp(call.boxes, call.slice));
}

bool IsNchw(const BorderAlignForwardPlan& plan) { return plan.layout == MLUOP_LAYOUT_NCHW; }

// All but pointers.
BorderAlignMlu MakeCall(const BorderAlignForwardPlan& plan, const runtime::Device& device) {
  BorderAlignMlu call = {};
  call.images = plan.images;
  call.channels = plan.channels;
  call.boxes = plan.boxes;
  call.axes[0] = AxisOf(plan.width);
  call.axes[1] = AxisOf(plan.height);
  call.pool_size = plan.pool_size;
  call.half = plan.dtype == MLUOP_DTYPE_HALF;
  CutWork(call, device);
  return call;
}

// Sets the pointers. NCHW is transposed on the way in and on the way out.
void LayOut(core::WorkspaceLayout& layout, const BorderAlignForwardPlan& plan,
            const BorderAlignForwardArgs& args, BorderAlignMlu& call) {
  call.box_list = args.boxes;
  call.input = args.input;
  call.output = args.output;
  call.argmax = args.argmax_idx;
  const int64_t maps = core::CheckedMul(plan.images, 4, "workspace");
  const int64_t results = core::CheckedMul(maps, plan.boxes, "workspace");
  if (IsNchw(plan)) {
    const auto elements = [&](int64_t count) -> void* {
      count = core::CheckedMul(count, plan.channels, "workspace");
      if (call.half) return layout.Array<uint16_t>(count);
      return layout.Array<float>(count);
    };
    call.input = elements(core::CheckedMul(core::CheckedMul(maps, plan.height, "workspace"),
                                           plan.width, "workspace"));
    call.output = elements(results);
    call.argmax = layout.Array<int32_t>(core::CheckedMul(results, plan.channels, "workspace"));
  }
  if (call.slices > 0) {
    const int64_t bands = std::max(call.bands[0], call.bands[1]);
    call.counts = layout.Array<uint32_t>(core::CheckedMul(maps, call.slices * bands, "workspace"));
    call.starts = layout.Array<uint32_t>(core::CheckedMul(maps, bands + 1, "workspace"));
    call.order = layout.Array<int32_t>(results);
  }
}

int64_t WorkspaceBytes(const BorderAlignForwardPlan& plan, const runtime::Device& device) {
  core::WorkspaceLayout layout;
  BorderAlignMlu call = MakeCall(plan, device);
  LayOut(layout, plan, {}, call);
  return layout.Bytes();
}

void Run(const BorderAlignForwardPlan& plan, const BorderAlignForwardArgs& args, void* memory,
         const runtime::Launch& launch) {
  const mlu::Launcher launcher(launch);
  core::WorkspaceLayout layout(memory);
  BorderAlignMlu call = MakeCall(plan, launch.device);
  LayOut(layout, plan, args, call);
  launcher("border_align_forward", [&](const mlu::Grid& grid, auto arch) {
    const int bytes = call.half ? 2 : 4;
    const auto transpose = [&](const void* src, void* dst, int64_t rows, int64_t columns,
                               int element_bytes) {
      border_align::LaunchTranspose<arch()>(grid,
                                            {src, dst, plan.images, rows, columns, element_bytes});
    };
    if (IsNchw(plan)) {
      transpose(args.input, const_cast<void*>(call.input), 4 * plan.channels,
                plan.height * plan.width, bytes);
    }
    if (call.slices > 0) border_align::LaunchSort<arch()>(grid, call);
    LaunchBorderAlign<arch()>(grid, call);
    if (IsNchw(plan)) {
      transpose(call.output, args.output, 4 * plan.boxes, plan.channels, bytes);
      transpose(call.argmax, args.argmax_idx, 4 * plan.boxes, plan.channels, 4);
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
