// SPDX-License-Identifier: Apache-2.0
#include "files/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

namespace detops::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// A header is a dozen words; NumPy pads it to 64 bytes.
constexpr size_t kMostHeaderBytes = 1 << 16;

[[noreturn]] void Fail(const std::filesystem::path& file, const std::string& why) {
  throw UserError(fmt::format("{}: {}", file.string(), why));
}

struct Header {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

// The header is a Python dict: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 9), }.
class HeaderParser {
 public:
  HeaderParser(const std::filesystem::path& file, std::string_view text)
      : file_(file), text_(text) {}

  Header Parse() {
    Header header;
    bool descr = false, order = false, shape = false;
    Expect('{');
    while (!Skip('}')) {
      const std::string key = String();
      Expect(':');
      if (key == "descr") {
        if (Peek() == '[') Fail(file_, "has named columns; save a plain array of one type");
        header.descr = String();
        descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = Bool();
        order = true;
      } else if (key == "shape") {
        header.shape = Tuple();
        shape = true;
      } else {
        Broken();
      }
      if (!Skip(',')) {
        Expect('}');
        break;
      }
    }
    if (!descr || !order || !shape) Broken();
    return header;
  }

 private:
  [[noreturn]] void Broken() { Fail(file_, "broken .npy header; write it again with numpy.save"); }
  char Peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Skip(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  void Expect(char c) {
    if (!Skip(c)) Broken();
  }
  std::string String() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') Broken();
    const size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) Broken();
    const std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }
  bool Bool() {
    Peek();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += std::string_view(word).size();
        return value;
      }
    }
    Broken();
  }
  Shape Tuple() {
    Shape shape;
    Expect('(');
    while (!Skip(')')) {
      Peek();
      int64_t dim = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), dim);
      if (error != std::errc() || dim < 0) Broken();
      at_ = static_cast<size_t>(end - text_.data());
      shape.push_back(dim);
      if (shape.size() > MLUOP_DIM_MAX) Fail(file_, "has more than 8 dims");
      if (!Skip(',')) {
        Expect(')');
        break;
      }
    }
    return shape;
  }

  const std::filesystem::path& file_;
  std::string_view text_;
  size_t at_ = 0;
};

mluOpDataType_t TypeOf(const std::filesystem::path& file, const std::string& descr) {
  if (descr == "<f2") return MLUOP_DTYPE_HALF;
  if (descr == "<f4") return MLUOP_DTYPE_FLOAT;
  if (descr == "<i4") return MLUOP_DTYPE_INT32;
  if (descr.starts_with('>')) {
    Fail(file,
         fmt::format("is big-endian ('{}'); save array.astype('<{}')", descr, descr.substr(1)));
  }
  Fail(file, fmt::format("has elements of type '{}'; half ('<f2') and float ('<f4') are possible: "
                         "save array.astype(numpy.float32)",
                         descr));
}

// Column-major to row-major.
Array FromFortran(const Array& columns) {
  Shape strides;
  int64_t stride = 1;
  for (const int64_t dim : columns.shape()) {
    strides.push_back(stride);
    stride *= dim;
  }
  return Array::Gather(columns, columns.shape(), strides);
}

bool IsNpy(const std::filesystem::path& file) { return file.extension() == ".npy"; }

void ReadExactly(std::ifstream& in, const std::filesystem::path& file, char* to, size_t bytes) {
  in.read(to, static_cast<std::streamsize>(bytes));
  if (static_cast<size_t>(in.gcount()) != bytes) {
    Fail(file, "ends too early; it was not written to its end");
  }
}

}  // namespace

Array ReadNpy(const std::filesystem::path& file) {
  RequireRegular(file);  // whose size tells whether it is whole
  std::ifstream in(file, std::ios::binary);
  if (!in) Fail(file, "can't be read");
  char start[8];
  in.read(start, sizeof(start));
  if (in.gcount() != sizeof(start) || std::string_view(start, kMagic.size()) != kMagic) {
    Fail(file, "is no .npy file; write it with numpy.save, or give a .csv");
  }
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3) {
    Fail(file, fmt::format("has version {} of the .npy format, 1 to 3 are known", version));
  }
  unsigned char length[4] = {0, 0, 0, 0};
  ReadExactly(in, file, reinterpret_cast<char*>(length), version == 1 ? 2 : 4);
  const size_t header_bytes =
      length[0] + (size_t{length[1]} << 8) + (size_t{length[2]} << 16) + (size_t{length[3]} << 24);
  if (header_bytes > kMostHeaderBytes) {
    Fail(file, fmt::format("has a header of {} bytes; it is broken", header_bytes));
  }
  std::string text(header_bytes, '\0');
  ReadExactly(in, file, text.data(), text.size());
  const Header header = HeaderParser(file, text).Parse();
  const mluOpDataType_t dtype = TypeOf(file, header.descr);

  // The header may promise any size: what the file holds comes before memory is taken for it.
  const int64_t count = CheckedCount(header.shape, dtype, file.string());
  const auto data_at = in.tellg();
  in.seekg(0, std::ios::end);
  const auto held = static_cast<int64_t>(in.tellg() - data_at);
  in.seekg(data_at);
  const int64_t wanted = count * static_cast<int64_t>(SizeOf(dtype));
  if (held != wanted) {
    Fail(file, fmt::format("holds {} bytes of data, its shape {} of {} needs {}", held,
                           TextOf(header.shape), NameOf(dtype), wanted));
  }
  Array array(dtype, header.shape, file.string());
  ReadExactly(in, file, reinterpret_cast<char*>(array.bytes().data()), array.bytes().size());
  return header.fortran_order && header.shape.size() > 1 ? FromFortran(array) : array;
}

void WriteNpy(const std::filesystem::path& file, const Array& array) {
  const char* descr = array.dtype() == MLUOP_DTYPE_HALF    ? "<f2"
                      : array.dtype() == MLUOP_DTYPE_FLOAT ? "<f4"
                                                           : "<i4";
  std::string shape;
  for (const int64_t dim : array.shape()) shape += fmt::format("{}, ", dim);
  if (array.shape().size() > 1) shape.resize(shape.size() - 2);
  if (array.shape().size() == 1) shape.pop_back();
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  // The data begin at a multiple of 64 bytes.
  const size_t fixed = kMagic.size() + 4;
  header.resize((fixed + header.size() + 1 + 63) / 64 * 64 - fixed - 1, ' ');
  header += '\n';
  std::string content(kMagic);
  content += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
              static_cast<char>(header.size() >> 8)};
  content += header;
  content.append(reinterpret_cast<const char*>(array.bytes().data()), array.bytes().size());
  WriteFile(file, content);
}

bool IsText(const std::filesystem::path& file) {
  return file.extension() == ".csv" || file.extension() == ".txt";
}

Array ReadArray(const std::filesystem::path& file) {
  if (IsNpy(file)) return ReadNpy(file);
  if (IsText(file)) return ReadCsv(file);
  Fail(file, "is neither .npy nor .csv");
}

void RequireArrayOutput(const std::filesystem::path& file) {
  if (!IsNpy(file) && !IsText(file)) {
    Fail(file, "results are written as .npy or .csv; choose one of these endings");
  }
  RequireWritable(file);
}

void WriteArray(const std::filesystem::path& file, const Array& array) {
  RequireArrayOutput(file);
  return IsNpy(file) ? WriteNpy(file, array) : WriteCsv(file, array);
}

}  // namespace detops::cli
