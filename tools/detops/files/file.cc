// SPDX-License-Identifier: Apache-2.0
#include "files/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace detops::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void CanNotWrite(const fs::path& file, const std::string& why) {
  throw UserError(fmt::format("{}: can't be written: {}", file.string(), why));
}
[[noreturn]] void CanNotWrite(const fs::path& file, int error) {
  CanNotWrite(file, std::strerror(error));
}

fs::path FolderOf(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

// What a link leads to is replaced, and the link stays; it may lead to a file that is not there
// yet.
fs::path TargetOf(const fs::path& file) {
  std::error_code error;
  const fs::path target = fs::canonical(file, error);
  if (!error) return target;
  return fs::is_symlink(file, error) ? FolderOf(file) / fs::read_symlink(file, error) : file;
}

// stdout or stderr where the file is open as that, as /dev/stdout is; else -1. The shell may write
// to the same file before and after, so it can't be replaced.
int OpenAs(const fs::path& file) {
  struct stat wanted = {}, open = {};
  if (stat(file.c_str(), &wanted) != 0) return -1;
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    if (fstat(descriptor, &open) == 0 && open.st_dev == wanted.st_dev &&
        open.st_ino == wanted.st_ino) {
      return descriptor;
    }
  }
  return -1;
}

// Written in place: what can't be replaced.
bool IsSpecial(const fs::path& file) {
  if (OpenAs(file) >= 0) return true;
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// 0, or the errno of what failed. Closes in any case.
int WriteAndClose(int descriptor, std::string_view content) {
  int error = 0;
  while (!content.empty() && error == 0) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written >= 0) content.remove_prefix(static_cast<size_t>(written));
    if (written < 0 && errno != EINTR) error = errno;
  }
  if (close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

// A new file in the folder of another, which takes that one's place or goes away.
class Replacement {
 public:
  // `file` is what the user calls it, perhaps a link.
  explicit Replacement(const fs::path& file) : file_(file), target_(TargetOf(file)) {
    for (int i = 0; descriptor_ < 0; ++i) {
      path_ = FolderOf(target_) / fmt::format(".detops-{}-{}", getpid(), i);
      descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor_ < 0 && errno != EEXIST) CanNotWrite(file, errno);
    }
    struct stat before = {};
    if (stat(target_.c_str(), &before) == 0) fchmod(descriptor_, before.st_mode & 0777);
  }
  ~Replacement() {
    if (!renamed_) unlink(path_.c_str());
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  void Write(std::string_view content) {
    int error = WriteAndClose(descriptor_, content);
    if (error == 0 && rename(path_.c_str(), target_.c_str()) != 0) error = errno;
    if (error != 0) CanNotWrite(file_, error);
    renamed_ = true;
  }

 private:
  const fs::path file_, target_;
  fs::path path_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

}  // namespace

std::string ReadFile(const fs::path& file, int64_t most) {
  std::error_code error;
  if (!fs::exists(file, error)) throw UserError(file.string() + ": no such file");
  if (fs::is_directory(file, error)) throw UserError(file.string() + ": is a folder, not a file");
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UserError(file.string() + ": can't be read");
  // Not by the size that the file system reports: pipes have none.
  std::string content;
  std::string block(1 << 16, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    content.append(block.data(), static_cast<size_t>(in.gcount()));
    if (static_cast<int64_t>(content.size()) > most) {
      throw UserError(fmt::format("{}: is larger than {} bytes", file.string(), most));
    }
  }
  if (in.bad()) throw UserError(file.string() + ": can't be read to its end");
  return content;
}

void RequireRegular(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) throw UserError(file.string() + ": no such file");
  if (fs::is_directory(status)) throw UserError(file.string() + ": is a folder, not a file");
  if (!fs::is_regular_file(status)) {
    throw UserError(file.string() + ": is a pipe or a device, not a file");
  }
}

void RequireWritable(const fs::path& file) {
  std::error_code error;
  const fs::path target = TargetOf(file), folder = FolderOf(target);
  if (fs::is_directory(target, error)) CanNotWrite(file, "it is a folder");
  if (!fs::is_directory(folder, error)) {
    CanNotWrite(file, fmt::format("there is no folder {}; make it first", folder.string()));
  }
  // Renaming would replace a file that is meant to stay.
  if (fs::exists(target, error) && access(target.c_str(), W_OK) != 0) CanNotWrite(file, errno);
  if (!IsSpecial(target) && access(folder.c_str(), W_OK | X_OK) != 0) {
    CanNotWrite(file, fmt::format("{}: {}", folder.string(), std::strerror(errno)));
  }
}

void WriteFile(const fs::path& file, std::string_view content) {
  RequireWritable(file);
  if (!IsSpecial(file)) {
    Replacement(file).Write(content);
    return;
  }
  const int opened = OpenAs(file);
  const int descriptor = opened >= 0 ? dup(opened) : open(file.c_str(), O_WRONLY | O_CLOEXEC);
  const int error = descriptor < 0 ? errno : WriteAndClose(descriptor, content);
  if (error != 0) CanNotWrite(file, error);
}

}  // namespace detops::cli
