// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a .npy file: an array or a UserError, and what was read is written and read again
// with the same bits.
#include "files/npy.h"

#include "fuzz/failure.h"
#include "fuzz/scratch_file.h"

using namespace detops;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::ScratchFile file, copy;
  file.Write(data, size);
  try {
    const cli::Array array = cli::ReadNpy(file.path());
    cli::WriteNpy(copy.path(), array);
    if (!cli::SameBits(array, cli::ReadNpy(copy.path()))) fuzz::Fail("a copy has other bits");
  } catch (const cli::UserError&) {
  }
  return 0;
}
