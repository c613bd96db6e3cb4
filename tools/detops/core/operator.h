// SPDX-License-Identifier: Apache-2.0
//
// What the commands know of an operator: everything about one lies in ops/<operator>.cc, and all
// commands work on this interface alone.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench/problem.h"
#include "case.pb.h"
#include "core/arguments.h"
#include "core/array.h"
#include "detops/detops.h"

namespace detops::cli {

class Operator;

// One call: the scalars (and what else a case file says) and the inputs.
struct Problem {
  const Operator* op = nullptr;
  proto::Case spec;
  std::vector<Array> inputs;
  std::vector<std::optional<Array>> expected;  // of the outputs, where the file gives them
  // Of the feature maps; all other tensors are plain arrays.
  mluOpTensorLayout_t layout = MLUOP_LAYOUT_NHWC;
};

struct TensorInfo {
  const char* name;    // as the C API calls it: "boxes"
  const char* option;  // of `detops run`: "--boxes"
  const char* help;    // "[N,9] x1,y1,…,x4,y4,score"
};

// An option of `detops gen` that shapes are made from.
struct SizeInfo {
  const char* option;  // "--n"
  int64_t standard;    // where it is not given
  const char* help;
};

// Pointers and descriptors of a call, in the order of inputs() and outputs().
struct Call {
  mluOpHandle_t handle;
  std::vector<mluOpTensorDescriptor_t> input_descs, output_descs;
  std::vector<void*> inputs, outputs;
  void* workspace;
  size_t workspace_bytes;
};

// As the operator's README counts it for reports.
struct Work {
  double bytes = 0;
  double operations = 0;         // 0 where only a run can tell
  double operations_a_pair = 0;  // else: times the pairs that the run counted
};

// How one output compares with the oracle.
struct Accuracy {
  std::string output;
  bool exact_wanted = false;  // integers, and what the contract wants equal
  double diff1 = 0, diff2 = 0, diff3 = 0;
  bool special_match = true;  // NaN and infinities at the same places
  // Of diff1, diff2 and diff3, where they are judged.
  std::array<std::optional<double>, 3> limits;
  bool passed = true;

  std::array<double, 3> diffs() const { return {diff1, diff2, diff3}; }
  void Judge();  // sets passed
};

struct Verdict {
  std::vector<Accuracy> outputs;
  std::string sample;  // "" where all was compared; else what was
  std::string weak;    // "" where the comparison means something; else why it does not
};

// The oracle's answer to a problem, worked out once and held against every implementation.
class Judge {
 public:
  virtual ~Judge() = default;
  virtual Verdict Compare(const std::vector<Array>& results) const = 0;
};

using Rng = std::mt19937_64;

class Operator {
 public:
  virtual ~Operator() = default;

  virtual const char* name() const = 0;
  virtual const char* summary() const = 0;
  virtual std::vector<TensorInfo> inputs() const = 0;
  virtual std::vector<TensorInfo> outputs() const = 0;
  // The scalars as options of `detops run`; they write into the case.
  virtual void AddOptions(Command& command, proto::Case& spec) const = 0;
  virtual const char* example() const = 0;  // of `detops run`

  // Room for the results. Shapes that don't fit each other are the library's to refuse.
  virtual std::vector<Array> MakeOutputs(const Problem& problem) const = 0;
  virtual mluOpTensorLayout_t LayoutOfInput(const Problem&, size_t) const {
    return MLUOP_LAYOUT_ARRAY;
  }
  virtual mluOpTensorLayout_t LayoutOfOutput(const Problem&, size_t) const {
    return MLUOP_LAYOUT_ARRAY;
  }
  virtual mluOpStatus_t WorkspaceBytes(const Problem&, const Call&, size_t* bytes) const {
    *bytes = 0;
    return MLUOP_STATUS_SUCCESS;
  }
  virtual mluOpStatus_t Run(const Problem& problem, const Call& call) const = 0;
  // Cuts off what a call leaves unwritten.
  virtual void Trim(const Problem&, std::vector<Array>&) const {}

  virtual Work WorkOf(const Problem& problem) const = 0;
  // The N of plots, and "[2000,9] threshold 0.1" for people.
  virtual int64_t SizeOf(const Problem& problem) const = 0;
  virtual std::string Describe(const Problem& problem) const = 0;
  // Pairs, samples or the like that the reference implementation goes through one by one.
  virtual double ReferenceSteps(const Problem& problem) const = 0;
  // Why efficiency may be below the bars; docs/performance.md has the figures.
  virtual const char* LimitedBy() const = 0;

  virtual std::unique_ptr<Judge> MakeJudge(const Problem& problem) const = 0;
  // One line about results: "kept 812 of 2000".
  virtual std::string Summarize(const Problem& problem,
                                const std::vector<Array>& results) const = 0;

  // Kinds of scenes, and the inputs of one; shapes and types are those that the case declares.
  struct SceneKind {
    const char* name;
    const char* help;
  };
  virtual std::vector<SceneKind> scenes() const = 0;
  virtual void FillScene(const std::string& kind, Rng& rng, Problem& problem) const = 0;
  virtual std::vector<SizeInfo> sizes() const = 0;
  // Of the inputs, from a number for each of sizes().
  virtual std::vector<Shape> ShapesOf(const std::vector<int64_t>& sizes,
                                      const proto::Case& spec) const = 0;
};

const std::vector<const Operator*>& Operators();
// Throws UserError that lists the names.
const Operator& OperatorNamed(const std::string& name);

// `threshold` is that of diff1 and diff2; 0 wants all three to be 0.
Accuracy CompareFloats(const char* output, const Array& got, const std::vector<double>& expected,
                       double threshold);
Accuracy CompareIntegers(const char* output, const Array& got,
                         const std::vector<int32_t>& expected);
// Below it, diff3 takes the difference itself, not its ratio.
double TinyOf(mluOpDataType_t dtype);
// Why floats as a whole say little: all 0, all NaN, none at all. Else "".
std::string WeakValues(const Array& values);

}  // namespace detops::cli
