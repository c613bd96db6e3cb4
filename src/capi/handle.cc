// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <memory>

#include "core/checks.h"
#include "cpu/instruction_sets.h"
#include "detops/detops.h"
#include "runtime/context.h"

using namespace detops;

namespace {

void CreateHandle(mluOpHandle_t* handle, runtime::Device& device) {
  cpu::AllowedTargets();  // refuses a DETOPS_CPU that names nothing
  auto context = std::make_unique<mluOpContext>();
  context->device = &device;
  context->counters = device.TakeCounters();
  if (const char* forced = std::getenv("DETOPS_IMPL")) context->forced_implementation = forced;
  *handle = context.release();
}

}  // namespace

mluOpStatus_t MLUOP_WIN_API mluOpCreate(mluOpHandle_t* handle) {
  return core::Guard("mluOpCreate", [&] {
    core::RequirePointers({{"handle", handle}});
    CreateHandle(handle, runtime::CurrentDevice());
  });
}

mluOpStatus_t detopsCreate(mluOpHandle_t* handle, const char* device) {
  return core::Guard("detopsCreate", [&] {
    core::RequirePointers({{"handle", handle}});
    const bool named = device != nullptr && *device != '\0';
    CreateHandle(handle, named ? runtime::FindDevice(device) : runtime::CurrentDevice());
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpDestroy(mluOpHandle_t handle) {
  return core::Guard("mluOpDestroy", [&] { delete &runtime::RequireHandle(handle); });
}

mluOpStatus_t MLUOP_WIN_API mluOpUpdateContextInformation(mluOpHandle_t handle) {
  // A handle holds nothing that its device could change.
  return core::Guard("mluOpUpdateContextInformation", [&] { runtime::RequireHandle(handle); });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetQueue(mluOpHandle_t handle, cnrtQueue_t queue) {
  return core::Guard("mluOpSetQueue", [&] {
    mluOpContext& context = runtime::RequireHandle(handle);
    if (queue != nullptr && queue->device != context.device) {
      core::BadParam("queue: belongs to ", queue->device->name(), ", expected one of ",
                     context.device->name(), ", where the handle runs");
    }
    context.queue = queue;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetQueue(mluOpHandle_t handle, cnrtQueue_t* queue) {
  return core::Guard("mluOpGetQueue", [&] {
    const mluOpContext& context = runtime::RequireHandle(handle);
    core::RequirePointers({{"queue", queue}});
    *queue = context.queue;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetQuantizeRoundMode(mluOpHandle_t handle,
                                                      mluOpQuantizeRoundMode_t round_mode) {
  return core::Guard("mluOpSetQuantizeRoundMode", [&] {
    mluOpContext& context = runtime::RequireHandle(handle);
    if (round_mode < MLUOP_ROUND_HALF_TO_EVEN || round_mode > MLUOP_ROUND_HALF_OFF_ZERO) {
      core::BadParam("round_mode: ", static_cast<int>(round_mode),
                     " is no mluOpQuantizeRoundMode_t");
    }
    context.round_mode = round_mode;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetQuantizeRoundMode(mluOpHandle_t handle,
                                                      mluOpQuantizeRoundMode_t* round_mode) {
  return core::Guard("mluOpGetQuantizeRoundMode", [&] {
    const mluOpContext& context = runtime::RequireHandle(handle);
    core::RequirePointers({{"round_mode", round_mode}});
    *round_mode = context.round_mode;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpSetAtomicsMode(mluOpHandle_t handle,
                                                mluOpAtomicsMode_t atomics_mode) {
  return core::Guard("mluOpSetAtomicsMode", [&] {
    mluOpContext& context = runtime::RequireHandle(handle);
    if (atomics_mode != MLUOP_ATOMICS_NOT_ALLOWED && atomics_mode != MLUOP_ATOMICS_ALLOWED) {
      core::BadParam("atomics_mode: ", static_cast<int>(atomics_mode), " is no mluOpAtomicsMode_t");
    }
    context.atomics_mode = atomics_mode;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetAtomicsMode(mluOpHandle_t handle,
                                                mluOpAtomicsMode_t* atomics_mode) {
  return core::Guard("mluOpGetAtomicsMode", [&] {
    const mluOpContext& context = runtime::RequireHandle(handle);
    core::RequirePointers({{"atomics_mode", atomics_mode}});
    *atomics_mode = context.atomics_mode;
  });
}
