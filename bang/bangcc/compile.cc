// SPDX-License-Identifier: Apache-2.0
//
// A .mlu becomes an object in two passes, for the device and for the host, that run side by side.
#include "bangcc/compile.h"

#include <stdio.h>

#include <filesystem>
#include <sstream>
#include <thread>
#include <unordered_set>

#include "bangcc/objects.h"
#include "bangcc/process.h"
#include "bangcc/unit.h"

namespace bangcc {
namespace {

// On-chip memory per core (NRAM, WRAM) and cluster (SRAM) in KB, as the compiler predefines it.
struct Memories {
  int arch, nram, wram, sram;
};
constexpr Memories kMemories[] = {{372, 768, 1024, 4096}, {592, 512, 512, 2048}};

// Words that stay themselves: a source may ask whether they are defined.
constexpr const char* kWords[] = {"__mlu_global__", "__mlu_entry__", "__mlu_func__",
                                  "__mlu_device__", "__mlu_host__",  "__mlu_builtin__",
                                  "__mlu_vector__", "__mlu_shared__", "__mlu_const__", "__nram__",
                                  "__wram__",       "__ldram__"};

uint64_t Hash(const std::string& text, uint64_t hash = 14695981039346656037u) {
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

// Of the file as it is compiled here: another one, or this one with other options, has another.
uint64_t FileId(const Options& options, const std::string& path) {
  uint64_t hash =
      Hash(std::filesystem::absolute(path).string(), Hash(std::to_string(options.arch)));
  for (const auto* words : {&options.preprocess, &options.compile}) {
    for (const std::string& word : *words) hash = Hash(word, hash);
  }
  return hash;
}

// By its name; one that is called c++ or cxx is asked.
bool IsClang(const Options& options) {
  static const bool is_clang = [&] {
    const std::string name = std::filesystem::path(options.compiler).filename().string();
    if (name.find("clang") != name.npos) return true;
    if (name.find("g++") != name.npos) return false;
    const TemporaryFolder folder;
    const std::string file = folder.File("version");
    std::string version, errors;
    bangcc::Run({options.compiler, "--version"}, file, &errors, false);
    return ReadFile(file, &version) && version.find("clang") != version.npos;
  }();
  return is_clang;
}

void Append(Command* command, const std::vector<std::string>& words) {
  for (const std::string& word : words) command->push_back(StandardAtLeast17(word));
}

class Pipeline {
 public:
  Pipeline(const Options& options, const Places& places, const std::string& path,
           const std::string& object)
      : options_(options),
        places_(places),
        path_(path),
        object_(object),
        file_id_(FileId(options, path)) {}

  bool Run() {
    const std::string host_object = folder_.File("host.o");
    const std::string device_object = folder_.File("device.o");
    bool has_device = false, host_good = false, device_good = false;
    std::string host_errors, device_errors;
    std::thread host([&] { host_good = Compile(Pass::kHost, host_object, nullptr, &host_errors); });
    device_good = Compile(Pass::kDevice, device_object, &has_device, &device_errors);
    host.join();
    Say(device_errors, host_errors);
    if (!host_good || !device_good) return false;
    return JoinObjects({device_object, has_device, host_object, object_, options_.verbose},
                       folder_);
  }

  bool Preprocess(Pass pass, const std::string& output, std::string* errors) {
    Command command = {options_.compiler, "-x", "c++", "-E", "-D__BANG__=1", "-D__BANGCC__=1"};
    for (const char* word : kWords) command.push_back("-D" + std::string(word) + "=" + word);
    // Arrays of a file stand in both passes, and so do the sizes that they have.
    const Memories& memories = kMemories[options_.arch == kMemories[1].arch];
    command.push_back("-D__MLU_NRAM_SIZE__=" + std::to_string(memories.nram));
    command.push_back("-D__MLU_WRAM_SIZE__=" + std::to_string(memories.wram));
    command.push_back("-D__MLU_SRAM_SIZE__=" + std::to_string(memories.sram));
    if (pass == Pass::kDevice) {
      command.push_back("-D__BANG_ARCH__=" + std::to_string(memories.arch));
    } else {
      AppendDependencies(&command);
    }
    command.insert(command.end(),
                   {"-isystem", places_.include, "-include", places_.include + "/bang.h"});
    Append(&command, options_.preprocess);
    AppendCommon(&command);
    command.push_back(path_);
    return bangcc::Run(command, output, errors, options_.verbose) == 0;
  }

 private:
  // What both steps, preprocessing and compiling, must know.
  void AppendCommon(Command* command) {
    if (!options_.has_standard) command->push_back("-std=gnu++17");
    Append(command, options_.compile);
  }

  void AppendDependencies(Command* command) {
    if (options_.dependencies.empty()) return;
    bool has_file = false, has_target = false;
    for (const std::string& word : options_.dependencies) {
      has_file = has_file || word.compare(0, 3, "-MF") == 0;
      has_target = has_target || word.compare(0, 3, "-MT") == 0 || word.compare(0, 3, "-MQ") == 0;
    }
    Append(command, options_.dependencies);
    if (!has_file)
      command->insert(command->end(),
                      {"-MF", std::filesystem::path(object_).replace_extension(".d").string()});
    if (!has_target) command->insert(command->end(), {"-MT", object_});
  }

  bool Compile(Pass pass, const std::string& object, bool* has_device, std::string* errors) {
    const std::string name = pass == Pass::kDevice ? "device.ii" : "host.ii";
    const std::string file = folder_.File(name);
    if (!Preprocess(pass, file, errors)) return false;
    std::string text;
    if (!ReadFile(file, &text)) return false;
    Unit unit(ReadTokens(std::move(text), places_.include), pass, options_.arch, file_id_);
    const std::string rewritten = Rewrite(&unit);
    *errors += unit.messages;
    if (unit.failed) return false;
    if (pass == Pass::kDevice) {
      *has_device = unit.has_kernels;
      if (!unit.has_kernels) return true;
    }
    if (!WriteFile(file, rewritten)) return false;
    if (options_.save)
      WriteFile(std::filesystem::path(object_).replace_extension(name).string(), rewritten);
    Command command = {options_.compiler, "-c", "-o", object};
    AppendCommon(&command);
    if (pass == Pass::kDevice) {
      AppendDevice(&command);
    } else if (HasKernels(unit)) {
      // What only kernels use: the device pass, which sees all code, warns of what nobody does.
      command.insert(command.end(), {"-Wno-unused-function", "-Wno-unused-variable",
                                     "-Wno-unused-const-variable"});
      if (IsClang(options_)) command.push_back("-Wno-unneeded-internal-declaration");
    }
    // Columns are those of the rewritten text; lines are the user's.
    command.push_back("-fno-show-column");
    command.push_back(IsClang(options_) ? "-fno-caret-diagnostics" : "-fno-diagnostics-show-caret");
    command.push_back(file);
    return bangcc::Run(command, "", errors, options_.verbose) == 0;
  }

  static bool HasKernels(const Unit& unit) {
    for (const Function& function : unit.program.functions) {
      if (function.kernel && function.has_body()) return true;
    }
    return false;
  }

  std::string Rewrite(Unit* unit) {
    RewriteArrays(unit);
    RewriteBodies(unit);
    RewriteFunctions(unit);
    RewriteLaunches(unit);
    RewriteNamespaces(unit);
    if (!unit->device()) {
      unit->preamble +=
          "namespace bang { bool CompiledFor(int); } __attribute__((unused)) static const bool "
          "bang_compiled = ::bang::CompiledFor(" +
          std::to_string(unit->arch) + "); ";
    }
    unit->edits.BeforeAll(unit->preamble);
    return unit->edits.Apply();
  }

  // Loads and stores announce themselves, as a race detector has it; scalar code is the card's,
  // which has no vectors there, and rounds every operation. Kernels see one array as several types.
  void AppendDevice(Command* command) {
    if (!options_.has_optimisation) command->push_back("-O2");
    for (const char* word : {"-fsanitize=thread", "-ffp-contract=off", "-fno-threadsafe-statics",
                             "-fno-strict-aliasing", "-ffunction-sections", "-fdata-sections",
                             "-g1"}) {
      command->push_back(word);
    }
    if (IsClang(options_)) {
      for (const char* word :
           {"-mllvm", "-tsan-instrument-func-entry-exit=0", "-fno-vectorize", "-fno-slp-vectorize"})
        command->push_back(word);
    } else {
      for (const char* word :
           {"--param", "tsan-instrument-func-entry-exit=0", "--param",
            "tsan-distinguish-volatile=0", "-fno-tree-vectorize", "-fno-gnu-unique"}) {
        command->push_back(word);
      }
    }
  }

  // Both passes see host code: what both say is said once.
  void Say(const std::string& device, const std::string& host) {
    std::unordered_set<std::string> said;
    for (const std::string* errors : {&device, &host}) {
      std::istringstream lines(*errors);
      std::unordered_set<std::string> here;
      for (std::string line; std::getline(lines, line);) {
        const std::string hidden = "bang_private_";
        for (size_t at; (at = line.find(hidden)) != line.npos;)
          line.replace(at, hidden.size() + 16, "{anonymous}");
        // A kernel's body is one, which is not the user's concern.
        if (line.find(": In lambda function:") != line.npos) continue;
        if (said.count(line) == 0) fprintf(stderr, "%s\n", line.c_str());
        here.insert(line);
      }
      said.merge(here);
    }
  }

  const Options& options_;
  const Places& places_;
  const std::string path_;
  const std::string object_;
  const uint64_t file_id_;
  TemporaryFolder folder_;
};

}  // namespace

bool CompileBang(const Options& options, const Places& places, const std::string& path,
                 const std::string& object) {
  return Pipeline(options, places, path, object).Run();
}

bool PreprocessBang(const Options& options, const Places& places, const std::string& path,
                    const std::string& output) {
  std::string errors;
  const bool good = Pipeline(options, places, path, "").Preprocess(Pass::kDevice, output, &errors);
  fputs(errors.c_str(), stderr);
  return good;
}

bool CompileHost(const Options& options, const Places& places, const std::string& path,
                 const std::string& object) {
  Command command = {options.compiler, "-isystem", places.include};
  command.insert(command.end(), options.preprocess.begin(), options.preprocess.end());
  command.insert(command.end(), options.dependencies.begin(), options.dependencies.end());
  command.insert(command.end(), options.compile.begin(), options.compile.end());
  if (options.goal == Goal::kPreprocess) {
    command.insert(command.end(), {"-E", path});
    return Run(command, options.output, nullptr, options.verbose) == 0;
  }
  command.insert(command.end(), {"-c", "-o", object, path});
  return Run(command, "", nullptr, options.verbose) == 0;
}

}  // namespace bangcc
