// SPDX-License-Identifier: Apache-2.0
//
// What the demo shows: each scene makes data that look like the real thing, runs one operator on
// them, holds the result against the oracle and draws it.
#pragma once

#include <string>
#include <vector>

#include "files/array.h"
#include "oracle/judge.h"

namespace detops::cli {

using schema::Rng;

struct Picture {
  std::string caption, svg;
};

struct Scene {
  std::string title, story;  // for people
  std::string op, size, summary, implementation;
  double seconds = 0;
  std::string time;  // the same for people
  oracle::Verdict verdict;
  std::vector<Picture> pictures;

  bool right() const;
  // "equal" or the worst differences.
  std::string VerdictText() const;
};

// Runs the problem by the library's choice on the device and fills in everything but words and
// pictures.
std::vector<Array> RunScene(const schema::Problem& problem, const std::string& device,
                            Scene& scene);

Scene ParkingLot(const std::string& device);
Scene LidarSweep(const std::string& device);
Scene StreetProposals(const std::string& device);
Scene BorderPoints(const std::string& device);
Scene IouMatrix(const std::string& device);

// Inputs in the order of the C function.
schema::Problem ProblemOf(const char* op, std::vector<Array> inputs);
Array FloatArray(Shape shape, const std::vector<float>& values);

}  // namespace detops::cli
