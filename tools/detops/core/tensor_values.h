// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "case.pb.h"
#include "core/array.h"

namespace detops::cli {

// The tensor that a case file describes; zeros where it gives no values and `empty_allowed`. `name`
// is for the UserError that everything wrong becomes.
Array MakeTensor(const proto::Tensor& tensor, const std::filesystem::path& folder,
                 const std::string& name, bool empty_allowed);

}  // namespace detops::cli
