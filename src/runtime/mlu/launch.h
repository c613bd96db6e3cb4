// SPDX-License-Identifier: Apache-2.0
//
// The host side of a call on an MLU: which card's kernels to launch, and what became of them.
#pragma once

#include <type_traits>

#include "mlu/card.h"
#include "runtime/implementation.h"
#include "runtime/mlu/mlu_device.h"

namespace detops::mlu {

class Launcher {
 public:
  explicit Launcher(const runtime::Launch& launch)
      : device_(static_cast<const runtime::MluDevice&>(launch.device)),
        scope_(device_.ordinal()),
        grid_{QueueOf(launch.queue), device_.clusters(), device_.cores_per_cluster()} {}

  const Grid& grid() const { return grid_; }
  int arch() const { return device_.arch(); }

  // launch(grid, arch) with an integral constant: it calls the functions of that card. `what` is
  // for the error text.
  template <class Launch>
  void operator()(const char* what, const Launch& launch) const {
    if (device_.arch() == 592) {
      launch(grid_, std::integral_constant<int, 592>());
    } else {
      launch(grid_, std::integral_constant<int, 372>());
    }
    Check(Cnrt().get_last_error(), what);
  }

 private:
  const runtime::MluDevice& device_;
  DeviceScope scope_;
  Grid grid_;
};

}  // namespace detops::mlu
