// SPDX-License-Identifier: Apache-2.0
#include "bangcc/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

extern char** environ;

namespace bangcc {

int Run(const Command& command, const std::string& output, std::string* errors, bool verbose) {
  if (verbose) {
    std::string line;
    for (const std::string& word : command) line += word + " ";
    fprintf(stderr, "%s\n", line.c_str());
  }
  int pipe_ends[2] = {-1, -1};
  if (errors != nullptr && pipe2(pipe_ends, O_CLOEXEC) != 0) return 127;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!output.empty())
    posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
  if (errors != nullptr) posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 2);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (errors != nullptr) {
    close(pipe_ends[1]);
    char buffer[4096];
    for (ssize_t n = 1; failed == 0 && n > 0;) {
      n = read(pipe_ends[0], buffer, sizeof buffer);
      if (n > 0) errors->append(buffer, n);
    }
    close(pipe_ends[0]);
  }
  if (failed != 0) {
    const std::string text = "bangcc: error: " + command[0] + ": " + strerror(failed) + "\n";
    errors != nullptr ? * errors += text : (fputs(text.c_str(), stderr), text);
    return 127;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "bangcc-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) {
    fprintf(stderr, "bangcc: error: no folder for temporary files: %s: %s\n", path_.c_str(),
            strerror(errno));
    exit(1);
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

bool ReadFile(const std::string& path, std::string* content) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return false;
  content->resize(file.tellg());
  file.seekg(0);
  file.read(content->data(), static_cast<std::streamsize>(content->size()));
  return static_cast<bool>(file);
}

bool WriteFile(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  return static_cast<bool>(file);
}

}  // namespace bangcc
