// SPDX-License-Identifier: Apache-2.0
#include "files/npy.h"

#include <fmt/format.h>

#include "cli/program.h"

namespace detops::cli::test {
namespace {

// A .npy file of version 1 with the header as it is given.
std::string Npy(const std::string& header, const std::string& data, char version = '\x01') {
  std::string text = std::string("\x93NUMPY") + version + '\x00';
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  if (version != '\x01') text += std::string(2, '\0');
  return text + header + data;
}
std::string Header(const std::string& descr, const std::string& order, const std::string& shape) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", descr, order,
                     shape);
}
std::string Bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

class NpyTest : public Program {
 protected:
  void ExpectError(const std::string& content, const std::string& words) {
    const fs::path file = Write("broken.npy", content);
    try {
      ReadNpy(file);
      ADD_FAILURE() << "was read; expected: " << words;
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("broken.npy"), std::string::npos) << e.what();
    }
  }
};

TEST_F(NpyTest, WhatIsWrittenIsRead) {
  for (const auto dtype : {MLUOP_DTYPE_HALF, MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_INT32}) {
    for (const Shape& shape : {Shape{3, 2}, Shape{6}, Shape{1, 2, 3}, Shape{0, 4}, Shape{}}) {
      Array array(dtype, shape);
      for (size_t i = 0; i < array.bytes().size(); ++i) array.bytes()[i] = std::byte(i % 60);
      WriteNpy(File("a.npy"), array);
      const Array read = ReadNpy(File("a.npy"));
      EXPECT_EQ(read.shape(), shape);
      EXPECT_TRUE(SameBits(array, read));
      EXPECT_EQ(fs::file_size(File("a.npy")) % 64, array.bytes().size() % 64);
    }
  }
}

TEST_F(NpyTest, FortranOrderIsTurned) {
  // [[1,2,3],[4,5,6]], column by column.
  const fs::path file =
      Write("f.npy", Npy(Header("<f4", "True", "(2, 3)"), Bytes({1, 4, 2, 5, 3, 6})));
  EXPECT_EQ(ReadNpy(file).Floats(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST_F(NpyTest, VersionTwoAndThree) {
  for (const char version : {'\x02', '\x03'}) {
    const fs::path file =
        Write("v.npy", Npy(Header("<f4", "False", "(2,)"), Bytes({7, 8}), version));
    EXPECT_EQ(ReadNpy(file).Floats(), (std::vector<float>{7, 8}));
  }
}

TEST_F(NpyTest, OtherTypesAreRefusedWithAdvice) {
  ExpectError(Npy(Header(">f4", "False", "(1,)"), "1234"), "big-endian");
  ExpectError(Npy(Header("<f8", "False", "(1,)"), "12345678"), "astype(numpy.float32)");
  ExpectError(Npy(Header("|O", "False", "(1,)"), "12345678"), "has elements of type '|O'");
  ExpectError(Npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234"),
              "named columns");
}

TEST_F(NpyTest, BrokenFilesAreErrors) {
  ExpectError("", "no .npy file");
  ExpectError("PK\x03\x04 a zip", "no .npy file");
  ExpectError(Npy(Header("<f4", "False", "(1,)"), "1234", '\x09'), "version 9");
  ExpectError(Npy(Header("<f4", "False", "(3,)"), "1234"), "holds 4 bytes");
  ExpectError(Npy(Header("<f4", "False", "(1,)"), "12345678"), "holds 8 bytes");
  ExpectError(std::string("\x93NUMPY\x01\x00\xff\x00{'descr'", 18), "ends too early");
  ExpectError(std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f", 12), "broken");
  for (const char* header :
       {"", "{", "}", "{'descr'}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': Maybe}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1", "{'x': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }"}) {
    ExpectError(Npy(header, "1234"), "broken .npy header");
  }
}

TEST_F(NpyTest, SizesAreCheckedBeforeMemoryIsTaken) {
  ExpectError(Npy(Header("<f4", "False", "(99999999999, 99999999999)"), ""),
              "more than this machine");
  ExpectError(Npy(Header("<f4", "False", "(1000000000,)"), "1234"), "holds 4 bytes");
  ExpectError(Npy(Header("<f4", "False", "(1,1,1,1,1,1,1,1,1)"), "1234"), "more than 8 dims");
  ExpectError(Npy(Header("<f4", "False", "(99999999999999999999,)"), "1234"), "broken .npy header");
}

TEST_F(NpyTest, CsvHasRowsAndNames) {
  const Array a = ReadCsv(Write("a.csv", "x,y\n# a note\n1,2\n\n 3;nan \n-inf\t1e300\r\n"));
  EXPECT_EQ(a.shape(), (Shape{3, 2}));
  EXPECT_EQ(a.Floats()[2], 3);
  EXPECT_TRUE(std::isnan(a.Floats()[3]));
  EXPECT_TRUE(std::isinf(a.Floats()[5]));
}

TEST_F(NpyTest, BrokenCsvNamesTheLine) {
  const auto error = [&](const std::string& text) {
    try {
      ReadCsv(Write("b.csv", text));
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("was read");
  };
  EXPECT_NE(error("1,2\n3\n").find("b.csv:2: has 1 numbers"), std::string::npos);
  EXPECT_NE(error("1,2\n3,x\n").find("b.csv:2: column 2: 'x' is no number"), std::string::npos);
  EXPECT_NE(error("").find("holds no numbers"), std::string::npos);
  EXPECT_NE(error("1;2\n1,5;2,5\n").find("b.csv:2: has both , and ;"), std::string::npos);
  EXPECT_NE(error(std::string("\0\xff\n", 3)).find("no number"), std::string::npos);
}

// A tracker's file without scores: the track number behind the gap must not become the score.
TEST_F(NpyTest, EmptyFieldsOfCsvAreErrors) {
  const auto error = [&](const std::string& text) {
    try {
      ReadCsv(Write("e.csv", text));
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("was read");
  };
  for (const auto& [text, words] : {std::pair{"1,2,3\n1,,3\n", "e.csv:2: column 2 is empty"},
                                    {"1,2,3\n4,,5,6\n", "e.csv:2: column 2 is empty"},
                                    {",2\n", "e.csv:1: column 1 is empty"},
                                    {"x,y\n 1 ; \n", "e.csv:2: column 2 is empty"},
                                    {"1,2,\n", "e.csv:1: column 3 is empty"},
                                    {"1 ,\t, 2\r\n", "e.csv:1: column 2 is empty"},
                                    {",\n1,2\n", "e.csv:1: column 1 is empty"}}) {
    EXPECT_NE(error(text).find(words), std::string::npos) << text << error(text);
  }
  // An index without a name has numbers below it; blanks around a delimiter are no fields.
  EXPECT_EQ(ReadCsv(Write("i.csv", ",x,y\n0,1,2\n")).shape(), (Shape{1, 3}));
  EXPECT_EQ(ReadCsv(Write("b.csv", " 1 , 2  3,4 \n")).shape(), (Shape{1, 4}));
  EXPECT_EQ(ReadCsv(Write("m.csv",
                          "\xef\xbb\xbf"
                          "1\n2\n"))
                .shape(),
            (Shape{2, 1}));
}

TEST_F(NpyTest, NumbersOfCsvBeyondAFloatAreInfiniteOrZero) {
  const Array a = ReadCsv(Write("n.csv", "1e999 -1e999 1e39 1e-400 -1e-400 1e-46 1e-45 +7\n"));
  const std::vector<float> values = a.Floats();
  const float infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(values, (std::vector<float>{infinite, -infinite, infinite, 0, 0, 0,
                                        std::numeric_limits<float>::denorm_min(), 7}));
  EXPECT_TRUE(std::signbit(values[4]));
}

}  // namespace
}  // namespace detops::cli::test
