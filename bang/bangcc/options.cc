// SPDX-License-Identifier: Apache-2.0
#include "bangcc/options.h"

#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <string_view>

#include "bangcc/config.h"

namespace bangcc {
namespace {

constexpr char kHelp[] =
    "usage: bangcc [options] files\n"
    "Compiles BANG C for the simulated card. Files ending in .mlu hold kernels; all others go to "
    "the\n"
    "host compiler.\n"
    "  -o FILE                   the result\n"
    "  -c                        only compile, one object for each file\n"
    "  -shared, -fPIC            a shared library\n"
    "  -E                        only preprocess, as for the device\n"
    "  -I -D -U -include -isystem -O -g -std -W -f -m -L -l -Wl, -MD -MF ...  as the host "
    "compiler's\n"
    "  -x bang                   the files that follow hold kernels, whatever their names end in\n"
    "  --bang-mlu-arch=ARCH      mtp_372 or mtp_592 (the default)\n"
    "  --bang-arch=ARCH          the same: compute_30 or compute_50\n"
    "  --bang-host-compiler=CXX  the compiler underneath: g++ (the default) or clang++; also "
    "$BANG_CXX\n"
    "  -save-temps               keeps what is compiled in either pass, beside the object\n"
    "  -v                        says what it runs\n"
    "  --version, --help\n";

bool Starts(std::string_view word, std::string_view start) {
  return word.substr(0, start.size()) == start;
}
bool Ends(std::string_view word, std::string_view end) {
  return word.size() >= end.size() && word.substr(word.size() - end.size()) == end;
}

int Arch(std::string_view name) {
  if (name == "mtp_372" || name == "compute_30") return 372;
  if (name == "mtp_592" || name == "compute_50") return 592;
  return 0;
}

// Options whose value may be the next word.
bool TakesWord(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "-I", "-D", "-U",  "-include", "-isystem", "-iquote",  "-idirafter", "-imacros",
      "-L", "-l", "-MF", "-MT",      "-MQ",      "-Xlinker", "-T",         "-u",
      "-z", "-x", "-o",  "-mllvm",   "-Xclang",  "--param",  "-rpath"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

bool IsPreprocessor(std::string_view word) {
  for (std::string_view start : {"-I", "-D", "-U", "-i"}) {
    if (Starts(word, start)) return true;
  }
  return false;
}

bool IsLinker(std::string_view word) {
  for (std::string_view start : {"-L", "-l", "-Wl,", "-Xlinker", "-T", "-u", "-z", "-rdynamic",
                                 "-shared", "-static", "-nostdlib", "-nodefaultlibs",
                                 "-nostartfiles", "-fuse-ld=", "-pie", "-no-pie", "-rpath", "-s"}) {
    const bool prefix = start.size() == 2 ? (start == "-s" ? word == start : Starts(word, start))
                                          : Starts(word, start);
    if (prefix) return !Starts(word, "-std");
  }
  return false;
}

// The vendor's libraries that programs link: libbang is they.
bool IsVendorLibrary(std::string_view name) {
  static constexpr std::string_view kNames[] = {"cnrt",  "cndrv", "cnbin", "cndev",
                                                "cnrtc", "cnpapi", "cnpx"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

class Parser {
 public:
  Parser(int argc, char** argv, Options* options)
      : words_(argv + 1, argv + argc), options_(options) {}

  bool Run(int* status) {
    if (const char* compiler = getenv("BANG_CXX")) options_->compiler = compiler;
    *status = 1;
    for (at_ = 0; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (word == "--help" || word == "-h") {
        fputs(kHelp, stdout);
        *status = 0;
        return false;
      }
      if (word == "--version") {
        printf("bangcc %s, simulated MLU370 (mtp_372) and MLU590 (mtp_592)\n", kVersion);
        *status = 0;
        return false;
      }
      if (!One(word)) return false;
    }
    if (options_->inputs.empty() && options_->link.empty()) {
      fprintf(stderr, "bangcc: error: no input files; bangcc --help lists the options\n");
      return false;
    }
    if (options_->goal == Goal::kObject && !options_->output.empty() &&
        options_->inputs.size() > 1) {
      fprintf(stderr, "bangcc: error: -o with -c takes one file\n");
      return false;
    }
    *status = 0;
    return true;
  }

 private:
  bool One(const std::string& word) {
    if (word.empty() || word[0] != '-' || word == "-") {
      const bool is_bang = language_.empty() ? Ends(word, ".mlu") : language_ == "bang";
      const bool source = is_bang || !language_.empty() || Ends(word, ".cc") ||
                          Ends(word, ".cpp") || Ends(word, ".cxx") || Ends(word, ".C") ||
                          Ends(word, ".c++") || Ends(word, ".c");
      if (source) {
        options_->link.push_back({"", static_cast<int>(options_->inputs.size())});
        options_->inputs.push_back({word, is_bang});
      } else {
        options_->link.push_back({word, -1});
      }
      return true;
    }
    if (const size_t equals = word.find('=');
        Starts(word, "--bang-mlu-arch=") || Starts(word, "--bang-arch=")) {
      return SetArch(word.substr(equals + 1));
    }
    if (Starts(word, "--bang-host-compiler=")) {
      options_->compiler = word.substr(word.find('=') + 1);
      return true;
    }
    if (Starts(word, "--bang-") || Starts(word, "--neuware")) {
      fprintf(stderr, "bangcc: warning: %s means nothing to the simulator\n", word.c_str());
      return true;
    }
    if (word == "-S") {
      fprintf(stderr, "bangcc: error: -S: the simulator has no assembly of the device\n");
      return false;
    }
    if (word == "-c") return options_->goal = Goal::kObject, true;
    if (word == "-E") return options_->goal = Goal::kPreprocess, true;
    if (word == "-save-temps") return options_->save = true;
    if (word == "-v") return options_->verbose = true;
    std::string value;
    if (TakesWord(word)) {
      if (++at_ == words_.size()) {
        fprintf(stderr, "bangcc: error: %s wants a value\n", word.c_str());
        return false;
      }
      value = words_[at_];
    }
    if (word == "-x") {
      language_ = value == "none" ? "" : value;
      return true;
    }
    if (Starts(word, "-o") && !Starts(word, "-openmp")) {
      options_->output = word.size() > 2 ? word.substr(2) : value;
      return true;
    }
    Pass(word, value);
    return true;
  }

  // What the host compiler understands.
  void Pass(const std::string& word, const std::string& value) {
    std::vector<std::string>* to = &options_->compile;
    if (Starts(word, "-M")) to = &options_->dependencies;
    if (IsPreprocessor(word)) to = &options_->preprocess;
    if (Starts(word, "-O")) options_->has_optimisation = true;
    if (Starts(word, "-std=")) options_->has_standard = true;
    if (IsVendorLibrary(word == "-l" ? value : Starts(word, "-l") ? word.substr(2) : "")) return;
    if (IsLinker(word)) {
      options_->link.push_back({word, -1});
      if (!value.empty()) options_->link.push_back({value, -1});
      return;
    }
    to->push_back(word);
    if (!value.empty()) to->push_back(value);
  }

  bool SetArch(const std::string& name) {
    const int arch = Arch(name);
    if (arch == 0) {
      fprintf(stderr,
              "bangcc: error: there is no card of %s; there are mtp_372 (compute_30) and mtp_592 "
              "(compute_50)\n",
              name.c_str());
      return false;
    }
    // A program for several cards: the simulator takes one, the largest.
    if (has_arch_ && arch != options_->arch) {
      options_->arch = std::max(arch, options_->arch);
      fprintf(stderr, "bangcc: warning: device code is for one card, here mtp_%d\n",
              options_->arch);
      return true;
    }
    has_arch_ = true;
    options_->arch = arch;
    return true;
  }

  const std::vector<std::string> words_;
  Options* options_;
  size_t at_ = 0;
  std::string language_;
  bool has_arch_ = false;
};

}  // namespace

bool ParseOptions(int argc, char** argv, Options* options, int* status) {
  return Parser(argc, argv, options).Run(status);
}

std::string StandardAtLeast17(const std::string& flag) {
  if (!Starts(flag, "-std=")) return flag;
  for (const char* old : {"98", "03", "0x", "11", "1y", "14", "c99", "c89", "c90", "1z"}) {
    if (Ends(flag, old)) return flag.find("gnu") != flag.npos ? "-std=gnu++17" : "-std=c++17";
  }
  return flag;
}

}  // namespace bangcc
