// SPDX-License-Identifier: Apache-2.0
#include "cases/tensor_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "files/npy.h"
#include "terminal/errors.h"

namespace detops::cli {
namespace {

// As mluOp's tests: the engine starts anew for each tensor, bounds as double go before those as
// float, and the upper one is left out, which the distribution may reach by rounding.
std::vector<float> Random(const proto::RandomData& random, int64_t count, const std::string& name) {
  std::minstd_rand0 engine(static_cast<unsigned>(random.seed()));
  std::vector<float> values(static_cast<size_t>(count));
  if (random.distribution() == proto::GAUSSIAN) {
    const float mu = random.has_mu_double() ? static_cast<float>(random.mu_double()) : random.mu();
    const float sigma =
        random.has_sigma_double() ? static_cast<float>(random.sigma_double()) : random.sigma();
    if (!(sigma > 0) || !std::isfinite(sigma) || !std::isfinite(mu)) {
      throw UserError(fmt::format("{}: sigma must be above 0, and mu a number", name));
    }
    std::normal_distribution<float> normal(mu, sigma);
    for (float& v : values) v = normal(engine);
    return values;
  }
  if (random.distribution() != proto::UNIFORM) {
    throw NotHere(fmt::format(
        "{}: mluOp's tests draw no numbers from distribution {} either; there are UNIFORM and "
        "GAUSSIAN",
        name, proto::Distribution_Name(random.distribution())));
  }
  const float low = random.has_lower_bound_double()
                        ? static_cast<float>(random.lower_bound_double())
                        : random.lower_bound();
  const float high = random.has_upper_bound_double()
                         ? static_cast<float>(random.upper_bound_double())
                         : random.upper_bound();
  if (!(low <= high) || !std::isfinite(high - low)) {
    throw UserError(
        fmt::format("{}: lower_bound {} and upper_bound {} are no range", name, low, high));
  }
  std::uniform_real_distribution<float> uniform(low, std::nextafter(high, low));
  for (float& v : values) v = uniform(engine);
  return values;
}

void SetBits(Array& array, size_t i, uint32_t bits) {
  if (array.dtype() == MLUOP_DTYPE_HALF) {
    array.As<uint16_t>()[i] = static_cast<uint16_t>(bits);
  } else {
    array.As<uint32_t>()[i] = bits;
  }
}

uint32_t Hex(const std::string& text, const std::string& name) {
  std::string_view digits = text;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  uint32_t bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw UserError(
        fmt::format("{}: value_h '{}' is no hexadecimal number", name, text.substr(0, 20)));
  }
  return bits;
}

// Where the elements of a tensor lie: in a buffer of their own, unless there are strides.
struct Place {
  Shape shape, strides;
  int64_t buffer_count;

  std::string Text() const {
    return TextOf(shape) + (strides.empty() ? "" : " with strides " + TextOf(strides));
  }
};

Place PlaceOf(const proto::Shape& given, mluOpDataType_t dtype, const std::string& name) {
  Place place = {{given.dims().begin(), given.dims().end()},
                 {given.dim_stride().begin(), given.dim_stride().end()},
                 0};
  if (place.shape.empty()) throw UserError(fmt::format("{}: has no shape", name));
  place.buffer_count = CheckedCount(place.shape, dtype, name);
  if (place.strides.empty() || place.buffer_count == 0) return place;
  if (place.strides.size() != place.shape.size()) {
    throw UserError(fmt::format("{}: has {} of dim_stride, its shape {} needs {}", name,
                                place.strides.size(), TextOf(place.shape), place.shape.size()));
  }
  int64_t last = 0;
  bool overflow = false;
  for (size_t d = 0; d < place.shape.size(); ++d) {
    if (place.strides[d] < 0) throw UserError(fmt::format("{}: has a negative dim_stride", name));
    int64_t reach = 0;
    overflow = overflow || __builtin_mul_overflow(place.shape[d] - 1, place.strides[d], &reach) ||
               __builtin_add_overflow(last, reach, &last);
  }
  if (overflow || last == std::numeric_limits<int64_t>::max()) {
    throw UserError(
        fmt::format("{}: shape {} is more than this machine can hold", name, place.Text()));
  }
  place.buffer_count = CheckedCount({last + 1}, dtype, name);
  return place;
}

// Links and .. are followed before it is decided where the file is.
std::filesystem::path FileIn(const CaseFolder& folder, const std::string& path,
                             const std::string& name) {
  const std::filesystem::path file = folder.path / path;
  std::error_code error;
  const std::filesystem::path root = std::filesystem::canonical(
      folder.path.empty() ? std::filesystem::path(".") : folder.path, error);
  std::filesystem::path real;
  if (!error) real = std::filesystem::weakly_canonical(root / path, error);
  const bool inside = !error && std::ranges::mismatch(root, real).in1 == root.end();
  if (!inside && !folder.allow_outside) {
    throw UserError(fmt::format(
        "{}: path '{}' leads out of the folder of the case; --allow-outside reads it all the same",
        name, path));
  }
  RequireRegular(file);
  return file;
}

// A file of numbers by its ending; else, as mluOp writes them, one of the elements' bits.
Array FromFile(const std::filesystem::path& file, mluOpDataType_t dtype, const Place& place,
               const std::string& name) {
  const auto bytes = place.buffer_count * static_cast<int64_t>(SizeOf(dtype));
  Array array(dtype, {place.buffer_count}, name);
  if (IsText(file)) {
    const Array values = ReadCsv(file);
    if (values.count() != place.buffer_count) {
      throw UserError(fmt::format("{}: {} has {} numbers, its shape {} needs {}", name,
                                  file.string(), values.count(), place.Text(), place.buffer_count));
    }
    return Array::FromFloats(dtype, {place.buffer_count}, values.As<float>());
  }
  const std::string content = ReadFile(file, bytes);
  if (static_cast<int64_t>(content.size()) != bytes) {
    throw UserError(fmt::format("{}: {} has {} bytes, its shape {} of {} needs {}", name,
                                file.string(), content.size(), place.Text(), NameOf(dtype), bytes));
  }
  std::memcpy(array.bytes().data(), content.data(), content.size());
  return array;
}

// The whole buffer, or nothing where the file gives no values.
std::optional<Array> BufferOf(const proto::Tensor& tensor, const CaseFolder& folder,
                              mluOpDataType_t dtype, const Place& place, const std::string& name) {
  const auto count = static_cast<size_t>(place.buffer_count);
  const auto expect = [&](const char* field, int given) {
    if (static_cast<size_t>(given) != count) {
      throw UserError(fmt::format("{}: has {} of {}, its shape {} needs {}", name, given, field,
                                  place.Text(), count));
    }
  };
  Array buffer(dtype, {place.buffer_count}, name);
  if (tensor.value_h_size() > 0) {
    expect("value_h", tensor.value_h_size());
    for (size_t i = 0; i < count; ++i) {
      SetBits(buffer, i, Hex(tensor.value_h(static_cast<int>(i)), name));
    }
  } else if (tensor.value_f_size() > 0) {
    expect("value_f", tensor.value_f_size());
    buffer = Array::FromFloats(dtype, buffer.shape(), {tensor.value_f().data(), count});
  } else if (tensor.value_i_size() > 0) {
    expect("value_i", tensor.value_i_size());
    for (size_t i = 0; i < count; ++i) {
      SetBits(buffer, i, std::bit_cast<uint32_t>(tensor.value_i(static_cast<int>(i))));
    }
  } else if (tensor.has_path()) {
    buffer = FromFile(FileIn(folder, tensor.path(), name), dtype, place, name);
  } else if (tensor.has_random_data()) {
    buffer = Array::FromFloats(dtype, buffer.shape(),
                               Random(tensor.random_data(), place.buffer_count, name));
  } else {
    return std::nullopt;
  }
  return buffer;
}

mluOpDataType_t TypeOf(const proto::Tensor& tensor, const std::string& name) {
  switch (tensor.dtype()) {
    case proto::DTYPE_HALF: return MLUOP_DTYPE_HALF;
    case proto::DTYPE_FLOAT: return MLUOP_DTYPE_FLOAT;
    default:
      throw UserError(fmt::format("{}: has dtype {}; the operators take DTYPE_HALF and DTYPE_FLOAT",
                                  name, proto::DataType_Name(tensor.dtype())));
  }
}

Array Placed(Array buffer, const Place& place) {
  if (!place.strides.empty()) return Array::Gather(buffer, place.shape, place.strides);
  buffer.Reshape(place.shape);
  return buffer;
}

}  // namespace

Array OutlineTensor(const proto::Tensor& tensor, const std::string& name) {
  const mluOpDataType_t dtype = TypeOf(tensor, name);
  return Array::Outline(dtype, PlaceOf(tensor.shape(), dtype, name).shape);
}

Array MakeTensor(const proto::Tensor& tensor, const CaseFolder& folder, const std::string& name,
                 bool empty_allowed) {
  const mluOpDataType_t dtype = TypeOf(tensor, name);
  const Place place = PlaceOf(tensor.shape(), dtype, name);
  std::optional<Array> buffer = BufferOf(tensor, folder, dtype, place, name);
  if (buffer) return Placed(*std::move(buffer), place);
  if (!empty_allowed && place.buffer_count > 0) {
    throw UserError(fmt::format("{}: has no values: give value_f, random_data or a scene", name));
  }
  return Array(dtype, place.shape, name);
}

std::optional<Array> ExpectedTensor(const proto::Tensor& tensor, const CaseFolder& folder,
                                    const std::string& name) {
  const proto::Tensor given = [&] {
    const EndsWithoutMemory end;
    proto::Tensor copy = tensor;
    copy.clear_random_data();  // what mluOp's tests have in the buffer before the call
    return copy;
  }();
  if (given.value_h_size() + given.value_f_size() + given.value_i_size() == 0 && !given.has_path())
    return std::nullopt;
  if (tensor.dtype() != proto::DTYPE_INT32) return MakeTensor(given, folder, name, false);
  const Place place = PlaceOf(tensor.shape(), MLUOP_DTYPE_INT32, name);
  if (given.value_f_size() > 0 || IsText(given.path())) {
    throw UserError(fmt::format("{}: integers are given by value_i, or by a file of bits", name));
  }
  return Placed(*BufferOf(given, folder, MLUOP_DTYPE_INT32, place, name), place);
}

}  // namespace detops::cli
