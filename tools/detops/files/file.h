// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing whole files: the one place where every command does so.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "files/array.h"

namespace detops::cli {

// The bytes of a file, or of a pipe, of at most `most` bytes.
std::string ReadFile(const std::filesystem::path& file, int64_t most);

// Throws UserError unless it is a file with a size and an end: opening a pipe may wait for ever,
// and a device may give bytes without end.
void RequireRegular(const std::filesystem::path& file);

// Throws UserError where WriteFile would have no chance. Commands ask before they work for minutes.
void RequireWritable(const std::filesystem::path& file);

// All or nothing: writes beside the file, then renames, so that a failure leaves the old file.
// Pipes and devices are written to as they are.
void WriteFile(const std::filesystem::path& file, std::string_view content);

}  // namespace detops::cli
