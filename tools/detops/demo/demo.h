// SPDX-License-Identifier: Apache-2.0
//
// All scenes as a page, for `detops demo` and for the program that `make demo` builds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "demo/scene.h"

namespace detops::cli {

// Runs every scene, with its progress on the screen where that is wanted, and writes the page.
std::vector<Scene> WriteDemo(const std::filesystem::path& file, const std::string& device,
                             bool progress);
bool AllRight(const std::vector<Scene>& scenes);
// The results as a table, and where the pictures are.
void PrintDemo(const std::vector<Scene>& scenes, const std::filesystem::path& file);

}  // namespace detops::cli
