// SPDX-License-Identifier: Apache-2.0
//
// A call of an operator, with what its case file says beside the scalars and inputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "case.pb.h"
#include "files/array.h"
#include "oracle/judge.h"
#include "schema/schema.h"
#include "terminal/arguments.h"

namespace detops::cli {

using oracle::Accuracy;
using oracle::Judge;
using oracle::Verdict;
using schema::Rng;
using schema::Schema;

struct Problem : schema::Problem {
  using schema::Problem::Problem;

  proto::Case spec;
  std::vector<std::optional<Array>> expected;  // of the outputs, where the file gives them
};

std::vector<schema::Tensor> InputsOf(const schema::Problem& problem);
std::vector<schema::Tensor> OutputsOf(const schema::Problem& problem);
// Where in the C function's inputs the i-th input of a case file is: by the order that mluOp's
// files have.
size_t PositionOf(const Schema& schema, size_t input_of_case);
// The same, by name where all inputs have the names of the C function.
size_t PositionOf(const schema::Problem& problem, const proto::Case& spec, size_t input_of_case);

// "--bbox-deltas": of `detops run`; "" for an output that none writes.
std::string OptionOf(const schema::Tensor& tensor);
// The scalars as options, which write into the problem. It must outlive the command.
void AddScalarOptions(Command& command, schema::Problem& problem);

// The scalars of a case file, in the message that mluOp has for the operator, or in ours. Reading
// throws UserError for a name that the operator does not have.
void ReadScalars(const proto::Case& spec, schema::Problem& problem);
// Those that are not the operator's standard.
void WriteScalars(const schema::Problem& problem, proto::Case& spec);

}  // namespace detops::cli
