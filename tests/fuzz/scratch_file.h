// SPDX-License-Identifier: Apache-2.0
//
// A file in a folder of its own, so that what reads and writes files can be fuzzed as it is. Both
// go with the object; a process that crashes leaves them behind.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fuzz/failure.h"

namespace detops::fuzz {

class ScratchFile {
 public:
  ScratchFile() : folder_(std::filesystem::temp_directory_path() / "detops-fuzz-XXXXXX") {
    std::string name = folder_.string();
    if (mkdtemp(name.data()) == nullptr) Fail("there is no place for temporary files");
    folder_ = name;
  }
  ~ScratchFile() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::filesystem::path path() const { return folder_ / "file"; }

  void Write(const uint8_t* data, size_t size) const {
    std::ofstream out(path(), std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    if (!out.flush()) Fail("the temporary file can't be written");
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace detops::fuzz
