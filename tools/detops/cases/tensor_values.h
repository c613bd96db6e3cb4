// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "case.pb.h"
#include "files/array.h"

namespace detops::cli {

// A sound case that asks for what is not here: no error, but it can't be run.
class NotHere : public UserError {
 public:
  using UserError::UserError;
};

// Where the files of a case may be: beside it and below, unless others are allowed. A case that
// someone sent could otherwise read any file of this machine.
struct CaseFolder {
  std::filesystem::path path;
  bool allow_outside = false;
};

// Type and shape of the tensor that a case file describes; an error as of MakeTensor.
Array OutlineTensor(const proto::Tensor& tensor, const std::string& name);
// The tensor that a case file describes; zeros where it gives no values and `empty_allowed`. `name`
// is for the UserError that everything wrong becomes.
Array MakeTensor(const proto::Tensor& tensor, const CaseFolder& folder, const std::string& name,
                 bool empty_allowed);

// The values that a case file expects of an output, if it gives any.
std::optional<Array> ExpectedTensor(const proto::Tensor& tensor, const CaseFolder& folder,
                                    const std::string& name);

}  // namespace detops::cli
