// SPDX-License-Identifier: Apache-2.0
//
// Tensors on the host, and the error that every command ends with: exit code 2.
#pragma once

#include "schema/array.h"

namespace detops::cli {

using schema::Array;
using schema::CheckedCount;
using schema::NameOf;
using schema::RequireMemory;
using schema::SameBits;
using schema::Shape;
using schema::SizeOf;
using schema::TextOf;
using schema::UserError;

}  // namespace detops::cli
