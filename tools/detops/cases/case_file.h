// SPDX-License-Identifier: Apache-2.0
//
// Case files: text that describes a problem (case.proto; docs/command-line.md). They come from
// anywhere, so nothing in them is trusted.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cases/problem.h"

namespace detops::cli {

struct Case {
  std::filesystem::path file;
  std::string name;   // "poly_nms/smoke/two_squares": the end of its path
  std::string group;  // smoke, edge, network, scale; "other" elsewhere
  proto::Case spec;
  std::vector<std::string> notes;  // what was ignored
};

// Only parses. Throws UserError with file, line and column.
Case ReadCase(const std::filesystem::path& file);
Case ParseCase(const std::filesystem::path& file, const std::string& text);
// Makes the inputs. Throws UserError, also where this machine has no room for the call's tensors.
// Files that the case names must be in its own folder, unless others are allowed.
Problem MakeProblem(const Case& what, bool allow_outside = false);

std::string WriteCase(const proto::Case& spec);

// The case files that arguments mean: files, folders (all below), operators ("poly_nms") and parts
// of the own collection ("poly_nms/edge"). None at all: the whole collection. `groups` filters
// folders and collections. Throws UserError where nothing is found.
std::vector<std::filesystem::path> FindCases(const std::vector<std::string>& arguments,
                                             const std::vector<std::string>& groups);

// A file given by DETOPS_CASES, ./cases, or the one installed with the program.
std::filesystem::path CaseCollection();

inline const std::vector<std::string> kGroups = {"smoke", "edge", "network", "scale"};

}  // namespace detops::cli
