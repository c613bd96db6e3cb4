// SPDX-License-Identifier: Apache-2.0
#ifndef BANGCC_SYMBOLS_H_
#define BANGCC_SYMBOLS_H_

#include <string>
#include <vector>

namespace bangcc {

// What an object file of the device pass tells.
struct DeviceSymbols {
  std::vector<std::string> kernels;          // their functions
  std::vector<std::string> private_kernels;  // of these, the file's own
  std::vector<std::string> accesses;         // __tsan_read4 and its like, which it calls
};

bool ReadSymbols(const std::string& object, DeviceSymbols* symbols);

}  // namespace bangcc

#endif  // BANGCC_SYMBOLS_H_
