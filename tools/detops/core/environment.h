// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace detops::cli {

// Version, devices, threads, compiler, operating system, time.
nlohmann::ordered_json EnvironmentJson();

}  // namespace detops::cli
