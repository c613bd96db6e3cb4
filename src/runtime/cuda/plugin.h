// SPDX-License-Identifier: Apache-2.0
//
// What libdetops wants of libdetops_cuda, the plug-in with all CUDA code. libdetops loads it when a
// cuda device is first asked for, so that it runs where there is no CUDA; the plug-in needs no
// symbol of libdetops. Both are built from one tree, and the version says so.
#pragma once

#include <cstdint>
#include <span>

#include "core/implementation.h"
#include "ops/bbox_overlaps/plan.h"
#include "ops/border_align_forward/plan.h"
#include "ops/generate_proposals_v2/plan.h"
#include "ops/points_in_boxes/plan.h"
#include "ops/poly_nms/plan.h"

namespace detops::cuda {

template <class Op>
struct Kernels {
  int64_t (*workspace)(const typename Op::Plan&, const runtime::Device&);
  void (*run)(const typename Op::Plan&, const typename Op::Args&, void* workspace,
              const core::Launch& launch);
};

struct Plugin {
  const char* version;  // that of detops
  // At least one; where there is none, entry() fails.
  std::span<runtime::Device* const> devices;

  Kernels<ops::BboxOverlaps> bbox_overlaps;
  Kernels<ops::PolyNms> poly_nms;
  Kernels<ops::BorderAlignForward> border_align_forward;
  Kernels<ops::GenerateProposalsV2> generate_proposals_v2;
  Kernels<ops::PointsInBoxes> points_in_boxes;
};

// The plug-in's one symbol. Throws core::Failure, which the catcher knows by its name, though the
// two libraries hide their symbols from each other.
inline constexpr char kEntryName[] = "detopsCudaPlugin";
using Entry = const Plugin& (*)();

// In libdetops. Fails with "no CUDA device: ..." where there is none, each time for the same
// reason.
const Plugin& LoadedPlugin();
// Null where there is a device; else a few words.
const char* WhyUnusable();

// The plug-in's row in an operator's table. Its functions are asked only by handles on a cuda
// device, so after the plug-in was loaded.
template <class Op, Kernels<Op> Plugin::*kKernels>
core::Implementation<Op> Row(
    const char* (*unsupported)(const typename Op::Plan&) = core::SupportsAll<typename Op::Plan>) {
  return {"cuda:simt",
          runtime::Backend::kCuda,
          WhyUnusable,
          unsupported,
          [](const typename Op::Plan& plan, const runtime::Device& device) {
            return (LoadedPlugin().*kKernels).workspace(plan, device);
          },
          [](const typename Op::Plan& plan, const typename Op::Args& args, void* workspace,
             const core::Launch& launch) {
            (LoadedPlugin().*kKernels).run(plan, args, workspace, launch);
          }};
}

}  // namespace detops::cuda
