// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a .npy file: an array or a UserError.
#include "fuzz/round_trip.h"

using namespace detops;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::RoundTrip(data, size, cli::ReadNpy, cli::WriteNpy);
  return 0;
}
