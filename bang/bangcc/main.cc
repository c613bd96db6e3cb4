// SPDX-License-Identifier: Apache-2.0
//
// bangcc: compiles BANG C for the simulated card, used as the vendor's compiler is.
#include <stdio.h>

#include <filesystem>

#include "bangcc/compile.h"
#include "bangcc/config.h"
#include "bangcc/options.h"
#include "bangcc/process.h"

namespace bangcc {
namespace {

Places FindPlaces() {
  std::error_code error;
  const std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const Places installed = {(self / kInstalledInclude).lexically_normal().string(),
                            (self / kInstalledLibrary).lexically_normal().string()};
  if (std::filesystem::exists(installed.include + "/bang.h", error)) return installed;
  return {kBuildInclude, kBuildLibrary};
}

std::string ObjectName(const std::string& source) {
  return std::filesystem::path(source).filename().replace_extension(".o").string();
}

bool Link(const Options& options, const Places& places, const std::vector<std::string>& objects) {
  Command command = {options.compiler};
  command.insert(command.end(), options.compile.begin(), options.compile.end());
  for (const LinkItem& item : options.link)
    command.push_back(item.input < 0 ? item.word : objects[item.input]);
  command.insert(command.end(), {"-o", options.output.empty() ? "a.out" : options.output,
                                 "-L" + places.library, "-lbang", "-Wl,-rpath," + places.library});
  return Run(command, "", nullptr, options.verbose) == 0;
}

int Main(int argc, char** argv) {
  Options options;
  int status = 0;
  if (!ParseOptions(argc, argv, &options, &status)) return status;
  const Places places = FindPlaces();
  TemporaryFolder folder;
  std::vector<std::string> objects;
  for (const Input& input : options.inputs) {
    if (!std::filesystem::exists(input.path)) {
      fprintf(stderr, "bangcc: error: %s: no such file\n", input.path.c_str());
      return 1;
    }
    const bool to_file = options.goal == Goal::kObject;
    std::string object = !to_file ? folder.File(std::to_string(objects.size()) + ".o")
                         : options.output.empty() ? ObjectName(input.path)
                                                  : options.output;
    bool good = false;
    if (!input.is_bang) {
      good = CompileHost(options, places, input.path, object);
    } else if (options.goal == Goal::kPreprocess) {
      good = PreprocessBang(options, places, input.path, options.output);
    } else {
      good = CompileBang(options, places, input.path, object);
    }
    if (!good) return 1;
    objects.push_back(object);
  }
  if (options.goal != Goal::kProgram) return 0;
  return Link(options, places, objects) ? 0 : 1;
}

}  // namespace
}  // namespace bangcc

int main(int argc, char** argv) { return bangcc::Main(argc, argv); }
