// SPDX-License-Identifier: Apache-2.0
//
// Arrays in files: NumPy's .npy (versions 1 to 3; half, float and int32, little-endian, C or
// Fortran order) and, for boxes and points, text with a row a line. Nothing in a file is trusted:
// whatever is wrong with it is a UserError that names the file and what to do.
#pragma once

#include <filesystem>
#include <string>

#include "files/array.h"
#include "files/file.h"

namespace detops::cli {

// By the name's ending: .csv or .txt.
bool IsText(const std::filesystem::path& file);
// By the name's ending: .npy, else text.
Array ReadArray(const std::filesystem::path& file);
void WriteArray(const std::filesystem::path& file, const Array& array);
// Throws UserError where WriteArray would have no chance.
void RequireArrayOutput(const std::filesystem::path& file);

Array ReadNpy(const std::filesystem::path& file);
void WriteNpy(const std::filesystem::path& file, const Array& array);

// Numbers separated by commas, semicolons or blanks, the same number in each line: [rows, columns]
// of float. A first line of names and lines that begin with # are left out.
Array ReadCsv(const std::filesystem::path& file);
void WriteCsv(const std::filesystem::path& file, const Array& array);

}  // namespace detops::cli
