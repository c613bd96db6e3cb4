// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_values.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <random>
#include <vector>

#include "core/npy.h"

namespace detops::cli {
namespace {

mluOpDataType_t TypeOf(const proto::Tensor& tensor, const std::string& name) {
  switch (tensor.dtype()) {
    case proto::DTYPE_HALF: return MLUOP_DTYPE_HALF;
    case proto::DTYPE_FLOAT: return MLUOP_DTYPE_FLOAT;
    default:
      throw UserError(fmt::format("{}: has dtype {}; the operators take DTYPE_HALF and DTYPE_FLOAT",
                                  name, proto::DataType_Name(tensor.dtype())));
  }
}

// As mluOp's tests: the engine starts anew for each tensor.
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
    throw UserError(fmt::format("{}: distribution {} is not known here; UNIFORM and GAUSSIAN are",
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
  std::uniform_real_distribution<float> uniform(low, high);
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

}  // namespace

Array MakeTensor(const proto::Tensor& tensor, const std::filesystem::path& folder,
                 const std::string& name, bool empty_allowed) {
  const mluOpDataType_t dtype = TypeOf(tensor, name);
  const Shape shape(tensor.shape().dims().begin(), tensor.shape().dims().end());
  if (tensor.shape().dim_stride_size() > 0) {
    throw UserError(fmt::format("{}: has dim_stride; the operators take contiguous tensors", name));
  }
  if (shape.empty()) throw UserError(fmt::format("{}: has no shape", name));
  Array array(dtype, shape, name);
  const auto count = static_cast<size_t>(array.count());
  const auto expect = [&](const char* field, int given) {
    if (static_cast<size_t>(given) != count) {
      throw UserError(fmt::format("{}: has {} of {}, its shape {} needs {}", name, given, field,
                                  TextOf(shape), count));
    }
  };
  if (tensor.value_h_size() > 0) {
    expect("value_h", tensor.value_h_size());
    for (size_t i = 0; i < count; ++i) {
      SetBits(array, i, Hex(tensor.value_h(static_cast<int>(i)), name));
    }
  } else if (tensor.value_f_size() > 0) {
    expect("value_f", tensor.value_f_size());
    array = Array::FromFloats(dtype, shape, {tensor.value_f().data(), count});
  } else if (tensor.value_i_size() > 0) {
    expect("value_i", tensor.value_i_size());
    for (size_t i = 0; i < count; ++i) {
      SetBits(array, i, std::bit_cast<uint32_t>(tensor.value_i(static_cast<int>(i))));
    }
  } else if (tensor.has_path()) {
    const Array values = ReadCsv(folder / tensor.path());
    if (static_cast<size_t>(values.count()) != count) {
      throw UserError(fmt::format("{}: {} has {} numbers, its shape {} needs {}", name,
                                  tensor.path(), values.count(), TextOf(shape), count));
    }
    array = Array::FromFloats(dtype, shape, values.As<float>());
  } else if (tensor.has_random_data()) {
    array = Array::FromFloats(dtype, shape, Random(tensor.random_data(), array.count(), name));
  } else if (!empty_allowed && count > 0) {
    throw UserError(fmt::format("{}: has no values: give value_f, random_data or a scene", name));
  }
  return array;
}

}  // namespace detops::cli
