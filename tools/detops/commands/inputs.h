// SPDX-License-Identifier: Apache-2.0
//
// A call of an operator from options: files for its inputs, numbers for its scalars.
#pragma once

#include <map>
#include <string>

#include "cases/problem.h"

namespace detops::cli {

struct OperatorInputs {
  explicit OperatorInputs(const Schema& op) : problem(op) {}
  Problem problem;                           // its scalars
  std::map<std::string, std::string> files;  // by tensor
};

// "[N,9] x1,y1,...": of its option.
std::string HelpOf(const Schema& op, const schema::Tensor& tensor);

// The options set the inputs, which must outlive the command.
void AddInputOptions(Command& command, OperatorInputs& inputs);

// Throws UserError with the file and the option.
Problem ReadProblem(const OperatorInputs& inputs);

}  // namespace detops::cli
