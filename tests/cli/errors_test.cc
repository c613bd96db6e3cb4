// SPDX-License-Identifier: Apache-2.0
#include "terminal/errors.h"

#include "cli/program.h"

namespace detops::cli::test {
namespace {

TEST(Errors, ControlCharactersAreShown) {
  EXPECT_EQ(Shown("a\x1b[2Jb\n\r\x7f"), "a\\x1b[2Jb\\x0a\\x0d\\x7f");
  EXPECT_EQ(Shown("ä € 𝄞 µs ±"), "ä € 𝄞 µs ±");
  EXPECT_EQ(Shown("\xc2\x9b"
                  "31m"),
            "\\xc2\\x9b31m");                           // the CSI of 8 bits
  EXPECT_EQ(Shown("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // right to left
  EXPECT_EQ(Shown(std::string("\0", 1)), "\\x00");
  // No UTF-8: a byte alone, one too few, overlong, a surrogate, beyond the last.
  EXPECT_EQ(Shown("\x9b"), "\\x9b");
  EXPECT_EQ(Shown("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(Shown("\xe2\x82!"), "\\xe2\\x82!");
  EXPECT_EQ(Shown("\xc0\x80\xe0\x80\x80"), "\\xc0\\x80\\xe0\\x80\\x80");
  EXPECT_EQ(Shown("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(Shown("\xf4\x90\x80\x80\xff"), "\\xf4\\x90\\x80\\x80\\xff");
}

using ErrorsTest = Program;

// Wherever a name or a text of a file comes out, on stdout and stderr.
TEST_F(ErrorsTest, NothingFromOutsideReachesTheTerminal) {
  const std::string name = "evil\x1b]0;title\x07.prototxt";
  Write(name, "op_name: 'soft\x1b[31m_nms'");
  Write("note.prototxt",
        "op_name: 'poly_nms' input { shape { dims: [9, 9] } } scene { } unknown: '\x1b[31m'");
  fs::copy_file(File("note.prototxt"), File("sound\x1b[31m.prototxt"));
  Write("dets\x1b[31m.csv", "0,0,1,0,1,1,0,1,x\x1b[31m\n");
  Write("dets.csv", "0,0,1,0,1,1,0,1,1\n");
  Write("old\x1b[31m.json", "{");
  for (const char* arguments :
       {"check evil*", "check -q evil*", "check sound* note.prototxt",
        "bench --seconds 0.001 evil*", "bench -q --seconds 0.001 evil*",
        "bench --seconds 0.001 sound*", "run poly_nms --boxes dets?*.csv",
        "bench note.prototxt --compare old*", "run poly_nms --boxes dets.csv --out $'k\\e[31m.npy'",
        "gen poly_nms --out $'g\\e[31m.prototxt'", "check $'no\\e[31m'", "$'\\e[31m'",
        "run poly_nms --boxes dets.csv --impl $'\\e[31m'", "gen poly_nms --scene $'\\e[31m'",
        "report --format md evil* --seconds 0.001", "report --format html evil* --seconds 0.001"}) {
    Write("arguments.sh", "'" DETOPS_PROGRAM "' " + std::string(arguments) + " > o 2> e");
    std::system(("cd '" + File("").string() + "' && bash arguments.sh").c_str());
    const std::string shown = Slurp(File("o")) + Slurp(File("e"));
    EXPECT_NE(shown.find("\\x1b"), std::string::npos) << arguments << "\n" << shown;
    EXPECT_EQ(shown.find('\x1b'), std::string::npos) << arguments << "\n" << shown;
    EXPECT_EQ(shown.find('\a'), std::string::npos) << arguments << "\n" << shown;
  }
}

}  // namespace
}  // namespace detops::cli::test
