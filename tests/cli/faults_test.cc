// SPDX-License-Identifier: Apache-2.0
//
// The command line on a machine that runs out of memory, threads or disk (tests/faults): it ends
// with a text and an exit code, and an output file is the old one or a whole new one.
#include <fmt/format.h>

#include "cases/problem.h"
#include "cli/program.h"
#include "files/npy.h"

namespace detops::cli::test {
namespace {

// Of tests/faults, for the program alone.
std::string Fault(const std::string& variable, int64_t n) {
  return "LD_PRELOAD='" DETOPS_FAULTS "' " + variable + "=" + std::to_string(n);
}

struct Line {
  std::string arguments;  // up to the name of
  std::string output;     // the file that it writes
};

class FaultsTest : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    ASSERT_EQ(Run("check bbox_overlaps/smoke/aligned --out check.json -q").code, 0);
    ASSERT_EQ(Run("bench bbox_overlaps/smoke/aligned --seconds 0.001 --out bench.json -q").code, 0);
  }

  // `detops run` of every operator, with inputs in files, and all other commands.
  std::vector<Line> Lines() const {
    std::vector<Line> lines;
    for (const Schema* op : schema::All()) {
      schema::Problem problem(*op);
      std::vector<int64_t> sizes;
      for (const schema::Letter& letter : op->letters) sizes.push_back(letter.small);
      problem.MakeInputs(sizes, MLUOP_DTYPE_FLOAT);
      Rng rng(1);
      op->fill(op->scenes.front().name, rng, problem);
      std::string arguments = std::string("run ") + op->name;
      for (size_t i = 0; i < problem.inputs.size(); ++i) {
        const std::string file = fmt::format("{}_{}.npy", op->name, i);
        WriteNpy(File(file), problem.inputs[i]);
        arguments += " " + OptionOf(InputsOf(problem)[i]) + " " + file;
      }
      lines.push_back({arguments + " --out", "out.npy"});
    }
    lines.push_back(
        {"check bbox_overlaps/smoke/aligned -q --impl cpu:reference --out", "out.json"});
    lines.push_back({"check poly_nms/smoke/concave_300 -q --impl cpu:reference --out", "out.json"});
    lines.push_back({"gen poly_nms --n 20 --values --out", "out.prototxt"});
    lines.push_back(
        {"bench bbox_overlaps/smoke/aligned -q --threads 1 --seconds 0.001 --impl "
         "cpu:reference --out",
         "out.json"});
    for (const char* format : {"html", "md", "json"}) {
      lines.push_back({std::string("report --check check.json --bench bench.json --format ") +
                           format + " --out",
                       std::string("out.") + format});
    }
    return lines;
  }
  Outcome Try(const Line& line, const std::string& fault) const {
    Write(line.output, "old");
    return Run(line.arguments + " " + line.output, fault);
  }
  // Whether the file is whole. Those with times in them differ from run to run.
  bool IsWhole(const Line& line, const std::string& expected) const {
    const std::string text = Slurp(File(line.output));
    if (line.output == "out.json") return nlohmann::json::accept(text);
    return text == expected;
  }
  void ExpectSoundEnd(const Line& line, const std::string& fault, const std::string& whole) const {
    const Outcome o = Try(line, fault);
    const std::string what = fault + " " + line.arguments + "\n" + o.out + o.err;
    EXPECT_TRUE(o.code >= 0 && o.code <= 2) << o.code << " " << what;
    const bool old = Slurp(File(line.output)) == "old";
    EXPECT_TRUE(o.code == 0 ? !old : o.out + o.err != "") << what;
    EXPECT_TRUE(old || IsWhole(line, whole)) << what;
    for (const auto& entry : fs::directory_iterator(File(""))) {
      EXPECT_FALSE(entry.path().filename().string().starts_with(".detops")) << what;
    }
  }
  std::string WholeOutput(const Line& line) const {
    const Outcome o = Try(line, "");
    EXPECT_EQ(o.code, 0) << line.arguments << o.out << o.err;
    EXPECT_NE(Slurp(File(line.output)), "old");
    return Slurp(File(line.output));
  }
  // Whether it needs more than n - 1 allocations. That one of them fails may do no harm.
  bool FailsFrom(int64_t n, const std::string& arguments) const {
    return Run(arguments, Fault("DETOPS_FAIL_ALLOCATION", n) + "+").code != 0;
  }
};

// The n-th allocation fails, in about `kSteps` steps from the first that comes after the commands
// and their options are there, which takes the same few thousand for all of them.
TEST_F(FaultsTest, MemoryRunsOut) {
  constexpr int64_t kSteps = 16;
  const auto allocations_of = [&](const std::string& arguments) {
    int64_t n = 1;
    for (int64_t step = 1 << 15; step > 0; step /= 2) {
      if (FailsFrom(n + step, arguments)) n += step;
    }
    return n;
  };
  const int64_t common = allocations_of("--version");
  ASSERT_GT(common, 500);
  // This loads plug-ins, too.
  const int64_t for_list = allocations_of("list -q");
  EXPECT_GT(for_list, common);
  const std::string list = Run("list").out;
  for (int64_t n = 1; n < for_list; n += for_list / kSteps) {
    const Outcome o = Run("list", Fault("DETOPS_FAIL_ALLOCATION", n));
    if (o.code == 0 && o.out == list) continue;  // a buffer that is done without
    EXPECT_EQ(o.code, 2) << n;
    EXPECT_TRUE(o.err.starts_with("detops: ")) << n << o.err;
  }
  for (const Line& line : Lines()) {
    const std::string whole = WholeOutput(line);
    const std::string arguments = line.arguments + " " + line.output;
    int64_t enough = common;
    for (int64_t step = kSteps; FailsFrom(enough, arguments); step *= 2) enough = common + step;
    EXPECT_GT(enough, common) << arguments;
    for (int64_t n = common; n < enough; n += std::max<int64_t>(1, (enough - common) / kSteps)) {
      ExpectSoundEnd(line, Fault("DETOPS_FAIL_ALLOCATION", n), whole);
    }
    // Where none after it succeeds either.
    ExpectSoundEnd(line, Fault("DETOPS_FAIL_ALLOCATION", common) + "+", whole);
  }
}

TEST_F(FaultsTest, TheDiskIsFull) {
  for (const Line& line : Lines()) {
    const std::string whole = WholeOutput(line);
    const Outcome first = Try(line, Fault("DETOPS_FAIL_WRITES", 1));
    EXPECT_EQ(first.code, 2) << line.arguments;
    EXPECT_EQ(Slurp(File(line.output)), "old") << line.arguments;
    const std::string words = "can't be written: No space left on device\n";
    EXPECT_EQ(first.err, "detops: " + line.output + ": " + words);
    // Then only what is printed is lost.
    ExpectSoundEnd(line, Fault("DETOPS_FAIL_WRITES", 2), whole);
    if (line.output != "out.npy") {
      const Outcome device = Run(line.arguments + " /dev/full");
      EXPECT_EQ(device.code, 2) << line.arguments;
      EXPECT_EQ(device.err, "detops: /dev/full: " + words);
    }
    // A report goes to the screen unless there is a file for it.
    const bool report = line.arguments.starts_with("report");
    const std::string screen = report ? line.arguments.substr(0, line.arguments.rfind(" --out"))
                                      : line.arguments + " " + line.output + " --json";
    const int status =
        std::system(("cd '" + File("").string() +
                     "' && DETOPS_CASES='" DETOPS_CASES_FOLDER "' '" DETOPS_PROGRAM "' " + screen +
                     " > /dev/full 2> full.txt")
                        .c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << line.arguments;
    EXPECT_EQ(Slurp(File("full.txt")), "detops: the output can't be written\n") << line.arguments;
  }
}

// The operators go on with the threads there are; only what measures on several can't.
TEST_F(FaultsTest, NoThreadStarts) {
  for (const Line& line : Lines()) {
    const Outcome o = Try(line, Fault("DETOPS_FAIL_THREADS", 1));
    EXPECT_EQ(o.code, 0) << line.arguments << o.err;
  }
  ASSERT_EQ(Run("gen nms --n 100000 --out large.prototxt").code, 0);
  EXPECT_EQ(Run("check large.prototxt", Fault("DETOPS_FAIL_THREADS", 1)).code, 0);
  for (const int n : {1, 2}) {
    const Outcome o = Run("bench bbox_overlaps/smoke/aligned --threads 3 --seconds 0.001",
                          Fault("DETOPS_FAIL_THREADS", n));
    EXPECT_EQ(o.code, 2) << o.out;
    EXPECT_TRUE(o.err.starts_with("detops: to measure on 3 threads, they must start: ")) << o.err;
  }
}

}  // namespace
}  // namespace detops::cli::test
