// SPDX-License-Identifier: Apache-2.0
#ifndef BANGCC_COMPILE_H_
#define BANGCC_COMPILE_H_

#include <string>

#include "bangcc/options.h"

namespace bangcc {

struct Places {
  std::string include;
  std::string library;
};

// Makes an object of a .mlu; false: errors are said.
bool CompileBang(const Options& options, const Places& places, const std::string& path,
                 const std::string& object);
// Writes what the preprocessor leaves for the device.
bool PreprocessBang(const Options& options, const Places& places, const std::string& path,
                    const std::string& output);
// A file for the host compiler alone.
bool CompileHost(const Options& options, const Places& places, const std::string& path,
                 const std::string& object);

}  // namespace bangcc

#endif  // BANGCC_COMPILE_H_
