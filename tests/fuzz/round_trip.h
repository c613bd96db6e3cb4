// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "files/npy.h"
#include "fuzz/failure.h"
#include "fuzz/scratch_file.h"

namespace detops::fuzz {

// The bytes as a file: read(path) gives an array or throws a UserError, and what was read has the
// same bits after write(path, array) and read.
template <class Read, class Write>
void RoundTrip(const uint8_t* data, size_t size, const Read& read, const Write& write) {
  static const ScratchFile file, copy;
  file.Write(data, size);
  try {
    const cli::Array array = read(file.path());
    write(copy.path(), array);
    if (!cli::SameBits(array, read(copy.path()))) Fail("a copy has other bits");
  } catch (const cli::UserError&) {
  }
}

}  // namespace detops::fuzz
