// SPDX-License-Identifier: Apache-2.0
//
// The one path from a checked plan to a kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "runtime/backend.h"
#include "runtime/call_log.h"
#include "runtime/context.h"
#include "runtime/float_environment.h"

namespace detops::runtime {

// Says on stderr what ran and what refused, when DETOPS_LOG has "dispatch".
void LogDispatch(const char* op, const char* implementation, const char* outcome);

template <class Op>
std::span<const Implementation<Op>> ImplementationsOn(const Device& device) {
  return ImplementationsOn<Op>(BackendNamed(BackendNameOf(device.name())));
}

template <class Op>
const Implementation<Op>& Select(const mluOpContext& handle, const typename Op::Plan& plan) {
  const std::string& forced = handle.forced_implementation;
  const std::span<const Implementation<Op>> candidates = ImplementationsOn<Op>(*handle.device);
  if (candidates.empty()) {
    core::Fail(MLUOP_STATUS_NOT_SUPPORTED, handle.device->name(), " has no implementation of ",
               Op::kName);
  }
  std::string refusals;
  for (const Implementation<Op>& candidate : candidates) {
    if (!forced.empty() && forced != candidate.name) continue;
    const char* reason = candidate.unusable();
    if (reason == nullptr) reason = candidate.unsupported(plan);
    LogDispatch(Op::kName, candidate.name, reason == nullptr ? "runs" : reason);
    if (reason == nullptr) return candidate;
    refusals += core::Concat("; ", candidate.name, " ", reason);
  }
  if (refusals.empty()) {  // none has the forced name
    std::string usable;
    for (const Implementation<Op>& candidate : candidates) {
      if (candidate.unusable() != nullptr) continue;
      usable += core::Concat(usable.empty() ? "" : ", ", candidate.name);
    }
    core::Fail(MLUOP_STATUS_NOT_SUPPORTED, handle.device->name(), " has no implementation ", forced,
               " of ", Op::kName, "; expected ", usable);
  }
  core::Fail(MLUOP_STATUS_NOT_SUPPORTED, "no implementation of ", Op::kName, " for ",
             forced.empty() ? handle.device->name() : forced, refusals);
}

// What any implementation on the handle's device may need, so that the size does not depend on
// which one is chosen later.
template <class Op>
int64_t WorkspaceBytes(const mluOpContext& handle, const typename Op::Plan& plan) {
  int64_t most = 0;
  for (const Implementation<Op>& candidate : ImplementationsOn<Op>(*handle.device)) {
    most = std::max(most, candidate.workspace(plan, *handle.device));
  }
  return most;
}

// memory(implementation) is its workspace, checked.
template <class Op, class Memory>
void DispatchWith(mluOpContext& handle, const typename Op::Plan& plan,
                  const typename Op::Args& args, const Memory& memory) {
  const Implementation<Op>& implementation = Select<Op>(handle, plan);
  handle.last_work = {};
  if (plan.Empty()) {
    Op::WriteEmpty(plan, args, handle);
  } else {
    Op::RequireArgs(plan, args);
    void* const workspace = memory(implementation);
    if (handle.call != nullptr) handle.call->Record(handle);
    const DefaultFloatEnvironment environment;
    implementation.run(
        plan, args, workspace,
        {*handle.device, handle.queue, handle.threads, handle.last_work, handle.counters});
  }
  handle.last_call_ran = !plan.Empty();
  handle.last_implementation = implementation.name;
}

// For operators whose C function has a workspace argument.
template <class Op>
void Dispatch(mluOpContext& handle, const typename Op::Plan& plan, const typename Op::Args& args,
              void* workspace, size_t workspace_size) {
  DispatchWith<Op>(handle, plan, args, [&](const Implementation<Op>&) {
    const auto needed = static_cast<size_t>(WorkspaceBytes<Op>(handle, plan));
    if (workspace_size < needed) {
      core::BadParam("workspace_size: is ", workspace_size, ", expected at least ", needed);
    }
    if (workspace == nullptr && needed > 0) {
      core::BadParam("workspace: is null, expected ", needed, " bytes");
    }
    handle.last_workspace = needed;
    return workspace;
  });
}

// For the others: the handle lends what the implementation wants.
template <class Op>
void Dispatch(mluOpContext& handle, const typename Op::Plan& plan, const typename Op::Args& args) {
  DispatchWith<Op>(handle, plan, args, [&](const Implementation<Op>& implementation) -> void* {
    const auto needed = static_cast<size_t>(implementation.workspace(plan, *handle.device));
    handle.last_workspace = needed;
    return needed > 0 ? handle.Scratch(needed) : nullptr;
  });
}

}  // namespace detops::runtime
