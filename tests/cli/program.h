// SPDX-License-Identifier: Apache-2.0
//
// Runs the program as a user does, and keeps what it says.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

namespace detops::cli::test {

namespace fs = std::filesystem;

inline std::string Slurp(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void Spill(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

struct Outcome {
  int code;  // -1 where a signal ended it
  std::string out, err;

  nlohmann::json Json() const { return nlohmann::json::parse(out); }
};

// Each test has a folder of its own, and the program runs in it.
class Program : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / (std::string("detops_cli_") + info->test_suite_name() +
                                           "_" + info->name() + "_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path File(const std::string& name) const { return folder_ / name; }
  fs::path Write(const std::string& name, const std::string& text) const {
    Spill(File(name), text);
    return File(name);
  }

  Outcome Run(const std::string& arguments, const std::string& environment = "") const {
    const std::string command =
        "cd '" + folder_.string() + "' && DETOPS_CASES='" DETOPS_CASES_FOLDER "' timeout 300 env " +
        environment + " '" DETOPS_PROGRAM "' " + arguments + " >stdout.txt 2>stderr.txt </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Slurp(File("stdout.txt")),
            Slurp(File("stderr.txt"))};
  }
  // "sse4": the processor's, whatever DETOPS_CPU says.
  std::string NarrowestInstructionSet() const {
    std::string narrowest;
    const nlohmann::json list = Run("list --json", "DETOPS_CPU=").Json();
    for (const auto& i : list["operators"][0]["implementations"]) {
      const std::string name = i["name"];
      if (i["usable"] && name.starts_with("cpu:") && name != "cpu:reference") narrowest = name;
    }
    return narrowest.substr(narrowest.find(':') + 1);
  }
  // That the text of a run at NarrowestInstructionSet names each device and each implementation
  // that could not run in one line, and does not count them among its results.
  void ExpectUnusableNamedOnce(const Outcome& o, const std::string& what) const {
    const nlohmann::json list =
        Run("list --json", "DETOPS_CPU=" + NarrowestInstructionSet()).Json();
    std::map<std::string, std::string> reasons;
    for (const auto& device : list["devices"]) {
      if (!device["usable"]) reasons[device["name"]] = device["reason"];
    }
    for (const auto& i : list["operators"][0]["implementations"]) {
      if (!i["usable"] && !reasons.contains(i["device"])) reasons[i["name"]] = i["reason"];
    }
    for (const auto& [name, reason] : reasons) {
      const std::string line = name + ": " + what + ", " + reason + "\n";
      const size_t first = o.out.find(line);
      EXPECT_NE(first, std::string::npos) << line << o.out;
      EXPECT_EQ(o.out.find(line, first + 1), std::string::npos) << line << o.out;
      EXPECT_EQ(o.out.find("--impl " + name), std::string::npos) << o.out;
    }
  }
  // Wrong input: exit code 2, nothing on stdout, and the words on stderr.
  void ExpectRefused(const std::string& arguments, const std::string& words) const {
    const Outcome o = Run(arguments);
    EXPECT_EQ(o.code, 2) << arguments << "\n" << o.out << o.err;
    EXPECT_NE(o.err.find(words), std::string::npos) << arguments << "\n" << o.err;
    EXPECT_EQ(o.out, "") << arguments;
  }

 private:
  fs::path folder_;
};

}  // namespace detops::cli::test
