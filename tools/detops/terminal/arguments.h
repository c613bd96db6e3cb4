// SPDX-License-Identifier: Apache-2.0
//
// Commands and their options. CLI11 does the work, in arguments.cc alone: wherever it is included
// it takes seconds to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace detops::cli {

// How an option is shown and checked.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option& Required();
  Option& ShowDefault();                         // the value that its variable has now
  Option& ShowDefault(const std::string& text);  // where it sets no variable
  Option& TypeName(const std::string& name);     // in the place of TEXT: "FILE"
  Option& OneOf(const std::vector<std::string>& words);
  Option& Within(int64_t lowest, int64_t highest);
  Option& Within(int lowest, int highest) { return Within(int64_t{lowest}, int64_t{highest}); }
  Option& Within(double lowest, double highest);

 private:
  CLI::Option* option_;
};

// A command, or the program itself, which holds the commands. Refers to what Program owns.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  // "--name", "-n,--name" or, for an argument without dashes, "name"; sets a std::string, int,
  // int64_t, uint64_t, float, double, or std::vector<std::string>, which takes several.
  template <class T>
  Option Add(const std::string& names, T& variable, const std::string& help);
  // Calls with a std::string, int, float or bool.
  template <class T>
  Option AddSetter(const std::string& names, std::function<void(const T&)> set,
                   const std::string& help);
  void AddFlag(const std::string& names, bool& variable, const std::string& help);
  void AddFlagSetter(const std::string& names, std::function<void()> set, const std::string& help);

  Command AddCommand(const std::string& name, const std::string& summary);
  void NeedsCommand();                   // one of those that were added
  void Footer(const std::string& text);  // of its help
  void OnCall(std::function<void()> call);

  std::string name() const;
  std::vector<std::string> options() const;  // "--name", in the order of their adding
  std::vector<Command> commands() const;

 protected:
  CLI::App* app_;
};

class Program : public Command {
 public:
  Program(const std::string& name, const std::string& summary, const std::string& version);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Calls the command that the arguments name, or prints help or version. Throws UserError, which
  // says what to do, where they are wrong.
  void Run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> owned_;
  std::string version_;
};

}  // namespace detops::cli
