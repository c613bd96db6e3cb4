// SPDX-License-Identifier: Apache-2.0
#include "files/file.h"

#include <sys/stat.h>

#include "cli/program.h"

namespace detops::cli::test {
namespace {

class FileTest : public Program {
 protected:
  std::string ErrorOf(const std::function<void()>& action) {
    try {
      action();
    } catch (const UserError& e) {
      return e.what();
    }
    return "was done";
  }
  // Names of all files that the test's folder holds.
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(File(""))) {
      names.insert(entry.path().filename());
    }
    return names;
  }
};

// Of `detops`, with files of at most 8 kB: the disk is full.
constexpr char kFullDisk[] = "bash -c 'trap \"\" XFSZ; ulimit -f 8; exec \"$@\"' bash";

TEST_F(FileTest, AFailedWriteLeavesTheOldFile) {
  for (const char* arguments :
       {"gen poly_nms --n 2000 --values --out old.prototxt",
        "check bbox_overlaps/edge bbox_overlaps/smoke -q --out old.json",
        "run bbox_overlaps --bboxes1 a.csv --bboxes2 a.csv --out old.csv"}) {
    std::string boxes;
    for (int i = 0; i < 200; ++i) boxes += "0,0,1,1\n";
    Write("a.csv", boxes);
    const std::string name = std::string(arguments).substr(std::string(arguments).rfind(' ') + 1);
    Write(name, "old");
    const Outcome o = Run(arguments, kFullDisk);
    EXPECT_EQ(o.code, 2) << arguments << o.out;
    EXPECT_EQ(o.err, "detops: " + name + ": can't be written: File too large\n");
    EXPECT_EQ(Slurp(File(name)), "old") << arguments;
    EXPECT_EQ(Names(), (std::set<std::string>{"a.csv", name, "stdout.txt", "stderr.txt"}));
    fs::remove(File(name));
  }
}

TEST_F(FileTest, TheFileKeepsItsLinksAndItsMode) {
  WriteFile(Write("real", "old"), "new");
  fs::create_symlink("real", File("link"));
  fs::permissions(File("real"), fs::perms(0640));
  WriteFile(File("link"), "newer");
  EXPECT_TRUE(fs::is_symlink(File("link")));
  EXPECT_EQ(Slurp(File("real")), "newer");
  EXPECT_EQ(fs::status(File("real")).permissions(), fs::perms(0640));
  EXPECT_EQ(Names(), (std::set<std::string>{"link", "real"}));
}

TEST_F(FileTest, DevicesAreWrittenAsTheyAre) {
  WriteFile("/dev/null", "nothing");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(ErrorOf([] { WriteFile("/dev/full", "text"); }),
            "/dev/full: can't be written: No space left on device");
  const Outcome o = Run("gen poly_nms --n 2 -q --out /dev/stdout");
  EXPECT_EQ(o.out, Run("gen poly_nms --n 2").out);
}

TEST_F(FileTest, WhatTheShellHasOpenIsWrittenToNotReplaced) {
  Write("log", "before\n");
  const std::string program = DETOPS_PROGRAM;
  ASSERT_EQ(
      std::system(("(" + program + " gen poly_nms --n 2 -q --out /dev/stdout; echo after) >> " +
                   File("log").string())
                      .c_str()),
      0);
  EXPECT_EQ(Slurp(File("log")), "before\n" + Run("gen poly_nms --n 2").out + "after\n");
}

TEST_F(FileTest, ALinkToAFileThatIsNotThereYetMakesThatFile) {
  fs::create_symlink("later.txt", File("link.txt"));
  WriteFile(File("link.txt"), "text");
  EXPECT_TRUE(fs::is_symlink(File("link.txt")));
  EXPECT_EQ(Slurp(File("later.txt")), "text");
}

TEST_F(FileTest, WrongOutputsAreRefusedBeforeAnythingRuns) {
  fs::create_directories(File("folder"));
  Write("dets.csv", "0,0,1,0,1,1,0,1,1\n");
  for (const char* arguments :
       {"run poly_nms --boxes dets.csv --out ", "check poly_nms/smoke --out ",
        "bench poly_nms/smoke --seconds 0.001 --out ",
        "bench poly_nms/smoke --seconds 0.001 --csv ",
        "report poly_nms/smoke --seconds 0.001 --out "}) {
    for (const auto& [name, why] :
         {std::pair{"no/such.csv", "there is no folder no; make it first"},
          std::pair{"folder", "it is a folder"}}) {
      if (std::string(name) == "folder" && std::string(arguments).starts_with("run")) continue;
      const Outcome o = Run(std::string(arguments) + name, "DETOPS_LOG=calls");
      EXPECT_EQ(o.code, 2) << arguments << name;
      // A call would have its line.
      EXPECT_EQ(o.err, std::string("detops: ") + name + ": can't be written: " + why + "\n");
    }
  }
  ExpectRefused("demo --out folder", "it is a folder");
  ExpectRefused("demo --out dets.csv/demo.html", "there is no folder");
}

TEST_F(FileTest, ArraysAreNotReadFromPipes) {
  ASSERT_EQ(mkfifo(File("pipe.npy").c_str(), 0600), 0);
  ExpectRefused("run poly_nms --boxes pipe.npy", "pipe.npy: is a pipe or a device");
}

}  // namespace
}  // namespace detops::cli::test
