// SPDX-License-Identifier: Apache-2.0
//
// Any text as a case file: a UserError, or a problem that the library computes or refuses. What was
// parsed is written and parsed again.
#include <algorithm>
#include <cmath>

#include "cases/case_file.h"
#include "fuzz/failure.h"
#include "fuzz/guarded_call.h"

using namespace detops;

namespace {

// A case may ask for as much as the machine has; here it gets little, and soon.
constexpr double kMostElements = 10000, kMostScalar = 1000, kMostSteps = 1e6, kMostBytes = 4e5;

bool IsSmall(const proto::Tensor& tensor) {
  double count = 1, reach = 1;
  for (int i = 0; i < tensor.shape().dims_size(); ++i) {
    const auto dim = static_cast<double>(tensor.shape().dims(i));
    count *= std::max(dim, 1.0);
    if (i < tensor.shape().dim_stride_size()) {
      reach += dim * static_cast<double>(tensor.shape().dim_stride(i));
    }
  }
  return count <= kMostElements && reach <= kMostElements;
}

// Whole numbers that an int holds are a size, which may be legal and large.
bool IsSmall(double scalar) {
  return std::abs(scalar) <= kMostScalar || !(std::abs(scalar) <= 0x1p31);
}

bool IsSmall(const cli::Case& what) {
  if (!std::ranges::all_of(what.spec.input(), [](const auto& t) { return IsSmall(t); }))
    return false;
  if (!std::ranges::all_of(what.spec.output(), [](const auto& t) { return IsSmall(t); }))
    return false;
  cli::Problem problem(schema::Named(what.spec.op_name()));
  cli::ReadScalars(what.spec, problem);
  return std::ranges::all_of(problem.scalars, [](double s) { return IsSmall(s); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const cli::Case what = cli::ParseCase("/nowhere/cases/a.prototxt", text);
    const std::string written = cli::WriteCase(what.spec);
    if (cli::WriteCase(cli::ParseCase(what.file, written).spec) != written) {
      fuzz::Fail("a case that was written and parsed differs");
    }
    if (!IsSmall(what)) return 0;
    const cli::Problem problem = cli::MakeProblem(what);
    const bool small = std::ranges::all_of(problem.OutlineOutputs(), [](const auto& output) {
      return schema::BytesOf(output.shape(), output.dtype()) <= kMostBytes;  // of each output
    });
    if (!small || !(problem.schema->reference_steps(problem) <= kMostSteps)) return 0;
    const std::vector<cli::Array> outputs = problem.MakeOutputs();
    fuzz::GuardedCall call(problem, outputs, fuzz::GuardedMemory::Edge::kEnd);
    call.Run(fuzz::KeptHandle("", 1));
  } catch (const cli::UserError&) {
  }
  return 0;
}
