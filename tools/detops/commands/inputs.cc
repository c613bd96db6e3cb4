// SPDX-License-Identifier: Apache-2.0
#include "commands/inputs.h"

#include <fmt/format.h>

#include "files/npy.h"

namespace detops::cli {

std::string HelpOf(const Schema& op, const schema::Tensor& tensor) {
  return fmt::format("[{}]{} {}", tensor.shape,
                     op.batch_is_optional ? ", the first may be left out:" : "", tensor.help);
}

void AddInputOptions(Command& command, OperatorInputs& inputs) {
  for (const schema::Tensor& tensor : InputsOf(inputs.problem)) {
    command.Add(OptionOf(tensor), inputs.files[tensor.name], HelpOf(*inputs.problem.schema, tensor))
        .TypeName("FILE")
        .Required();
  }
  AddScalarOptions(command, inputs.problem);
}

Problem ReadProblem(const OperatorInputs& inputs) {
  Problem problem = inputs.problem;
  for (const schema::Tensor& tensor : InputsOf(problem)) {
    const std::string& file = inputs.files.at(tensor.name);
    Array array = ReadArray(file);
    if (array.shape().empty()) {
      throw UserError(fmt::format("{}: holds a single number; {} wants [{}] {}", file,
                                  OptionOf(tensor), tensor.shape, tensor.help));
    }
    if (array.dtype() == MLUOP_DTYPE_INT32) {
      throw UserError(fmt::format("{}: holds int32; {} wants float: save array.astype('<f4')", file,
                                  OptionOf(tensor)));
    }
    const size_t rank = schema::DimsOf(*problem.schema, tensor.shape).size();
    if (problem.schema->batch_is_optional && array.shape().size() + 1 == rank) {
      Shape shape = array.shape();
      shape.insert(shape.begin(), 1);
      array.Reshape(shape);
    }
    problem.inputs.push_back(std::move(array));
  }
  return problem;
}

}  // namespace detops::cli
