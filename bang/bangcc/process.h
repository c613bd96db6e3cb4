// SPDX-License-Identifier: Apache-2.0
#ifndef BANGCC_PROCESS_H_
#define BANGCC_PROCESS_H_

#include <string>
#include <vector>

namespace bangcc {

using Command = std::vector<std::string>;

// Runs a command to its end; returns its status, 127 where there is no such program. What it writes
// to stdout goes to the file `output`, unless that is empty; its errors into *errors, unless null.
int Run(const Command& command, const std::string& output, std::string* errors, bool verbose);

// A folder that is gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

bool ReadFile(const std::string& path, std::string* content);
bool WriteFile(const std::string& path, const std::string& content);

}  // namespace bangcc

#endif  // BANGCC_PROCESS_H_
