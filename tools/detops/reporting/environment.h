// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace detops::cli {

// For files and the screen. Bytes that are no UTF-8, from names of files or broken ones, are
// replaced.
std::string JsonText(const nlohmann::ordered_json& json);

// Version, devices, threads, compiler, operating system, time.
nlohmann::ordered_json EnvironmentJson();

}  // namespace detops::cli
