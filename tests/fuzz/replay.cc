// SPDX-License-Identifier: Apache-2.0
//
// Runs a target on files and on all files of folders: what `ctest` does with the corpus, by any
// compiler. Names each file before it runs, so that the last one named is the one that crashed.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

// An input that is slow is as bad as one that crashes. With sanitizers on a busy machine.
constexpr double kMostSeconds = 10;
// Of the process, as libFuzzer counts it.
constexpr double kMostGigabytes = 2;

double PeakGigabytes() {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / (1 << 20);  // from kilobytes
}

double Run(const fs::path& file) {
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  const auto begin = std::chrono::steady_clock::now();
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  double slowest = 0;
  for (const fs::path& file : files) {
    slowest = std::max(slowest, Run(file));
    if (PeakGigabytes() > kMostGigabytes) {
      std::printf("took %.1f GB of memory, expected at most %.0f\n", PeakGigabytes(),
                  kMostGigabytes);
      return 1;
    }
  }
  std::printf("%zu inputs, the slowest took %.3f s\n", files.size(), slowest);
  if (files.empty() || slowest > kMostSeconds) {
    std::printf("expected at least one, and at most %.0f s\n", kMostSeconds);
    return 1;
  }
  return 0;
}
