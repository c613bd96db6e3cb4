// SPDX-License-Identifier: Apache-2.0
//
// What libdetops wants of a plug-in, a library with all code of one backend. libdetops loads it
// when a device of that backend is first asked for, so that it runs where there is none; the
// plug-in needs no symbol of libdetops. Both are built from one tree, and the version says so.
#pragma once

#include <span>
#include <string_view>

#include "core/operator_list.h"
#include "runtime/implementation.h"

namespace detops::runtime {

struct Plugin {
  const char* version;  // that of detops
  // Fails with the reason where there is none. Throws core::Failure, which the catcher knows by its
  // name, though the two libraries hide their symbols from each other.
  std::span<Device* const> (*devices)();
  // The operator's Implementation<Op> of this backend, or null.
  const void* (*find)(std::string_view op);
};

// The plug-in's one symbol.
inline constexpr char kPluginEntryName[] = "detopsPlugin";
using PluginEntry = const Plugin& (*)();

// Each src/ops/<op>/cuda.cu, or mlu.cc, specialises it for its operator.
template <class Op>
const Implementation<Op>& PluginImplementation();

template <class... Ops>
const void* FindImplementation(core::OperatorList<Ops...>, std::string_view op) {
  const void* found = nullptr;
  ((op == Ops::kName ? void(found = &PluginImplementation<Ops>()) : void()), ...);
  return found;
}

}  // namespace detops::runtime
