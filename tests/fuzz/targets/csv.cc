// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a .csv file: an array of two dims or a UserError.
#include "fuzz/round_trip.h"

using namespace detops;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto read = [](const auto& path) {
    cli::Array array = cli::ReadCsv(path);
    if (array.shape().size() != 2 || array.count() == 0) fuzz::Fail("no rows and columns");
    return array;
  };
  fuzz::RoundTrip(data, size, read, cli::WriteCsv);
  return 0;
}
