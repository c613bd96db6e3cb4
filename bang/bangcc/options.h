// SPDX-License-Identifier: Apache-2.0
#ifndef BANGCC_OPTIONS_H_
#define BANGCC_OPTIONS_H_

#include <string>
#include <vector>

namespace bangcc {

enum class Goal { kPreprocess, kObject, kProgram };

struct Input {
  std::string path;
  bool is_bang;  // a .mlu, or named so by -x bang
};

// One word of the command line that the linker gets, or the object of an input, in their order.
struct LinkItem {
  std::string word;
  int input = -1;  // not -1: the object of this input
};

struct Options {
  Goal goal = Goal::kProgram;
  std::vector<Input> inputs;
  std::vector<LinkItem> link;
  std::string output;
  std::string compiler = "g++";
  int arch = 592;
  std::vector<std::string> preprocess;    // -I, -D, -include ...
  std::vector<std::string> dependencies;  // -MD, -MF ...
  std::vector<std::string> compile;       // -O2, -g, -fPIC, -Wall, -std ...
  bool has_optimisation = false;
  bool has_standard = false;
  bool verbose = false;
  bool save = false;  // -save-temps: the two rewritten texts stay beside the object
};

// False: the program ends with *status, all is said.
bool ParseOptions(int argc, char** argv, Options* options, int* status);

// A -std= below C++17, which the headers of the built-ins need, becomes that.
std::string StandardAtLeast17(const std::string& flag);

}  // namespace bangcc

#endif  // BANGCC_OPTIONS_H_
