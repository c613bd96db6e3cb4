// SPDX-License-Identifier: Apache-2.0
#include "bangcc/objects.h"

#include <filesystem>

#include "bangcc/symbols.h"

namespace bangcc {
namespace {

std::string Lines(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& word : words) result += word + "\n";
  return result;
}

}  // namespace

bool JoinObjects(const Objects& objects, const TemporaryFolder& folder) {
  DeviceSymbols symbols;
  if (objects.has_device && !ReadSymbols(objects.device, &symbols)) return false;
  std::error_code error;
  if (symbols.kernels.empty()) {
    return std::filesystem::copy_file(objects.host, objects.result,
                                      std::filesystem::copy_options::overwrite_existing, error);
  }
  const std::string grouped = folder.File("ungrouped.o"), hidden = folder.File("hidden.o");
  const std::string roots = folder.File("roots"), keep = folder.File("keep"),
                    renames = folder.File("renames");
  std::string root_options, rename_lines = "__gxx_personality_v0 bang_personality\n";
  for (const std::string& kernel : symbols.kernels) root_options += "-u " + kernel + "\n";
  for (const std::string& access : symbols.accesses)
    rename_lines += access + " bang_tsan_" + access.substr(7) + "\n";
  if (!WriteFile(roots, root_options) || !WriteFile(keep, Lines(symbols.kernels)) ||
      !WriteFile(renames, rename_lines))
    return false;
  auto Do = [&](const Command& command) { return Run(command, "", nullptr, objects.verbose) == 0; };
  // No group of functions is merged with another file's, and what only host code used is dropped:
  // the host pass has its own.
  if (!Do({"ld", "-r", "--force-group-allocation", "--gc-sections", "@" + roots, objects.device,
           "-o", grouped}))
    return false;
  if (!Do({"objcopy", "--remove-section=.init_array*", "--remove-section=.rela.init_array*",
           "--keep-global-symbols=" + keep, "--redefine-syms=" + renames, grouped, hidden})) {
    return false;
  }
  if (!Do({"ld", "-r", objects.host, hidden, "-o", objects.result})) return false;
  if (symbols.private_kernels.empty()) return true;
  const std::string own = folder.File("private");
  return WriteFile(own, Lines(symbols.private_kernels)) &&
         Do({"objcopy", "--localize-symbols=" + own, objects.result});
}

}  // namespace bangcc
