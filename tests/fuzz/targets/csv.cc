// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a .csv file: an array of two dims or a UserError, and what was read is written and
// read again with the same bits.
#include "files/npy.h"
#include "fuzz/failure.h"
#include "fuzz/scratch_file.h"

using namespace detops;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::ScratchFile file, copy;
  file.Write(data, size);
  try {
    const cli::Array array = cli::ReadCsv(file.path());
    if (array.shape().size() != 2 || array.count() == 0) fuzz::Fail("no rows and columns");
    cli::WriteCsv(copy.path(), array);
    if (!cli::SameBits(array, cli::ReadCsv(copy.path()))) fuzz::Fail("a copy has other bits");
  } catch (const cli::UserError&) {
  }
  return 0;
}
