// SPDX-License-Identifier: Apache-2.0
#ifndef BANGCC_OBJECTS_H_
#define BANGCC_OBJECTS_H_

#include <string>

#include "bangcc/process.h"

namespace bangcc {

struct Objects {
  std::string device;
  bool has_device;
  std::string host;
  std::string result;
  bool verbose;
};

// One object of both passes'. Device code is private to it: only kernels have names outside.
bool JoinObjects(const Objects& objects, const TemporaryFolder& folder);

}  // namespace bangcc

#endif  // BANGCC_OBJECTS_H_
