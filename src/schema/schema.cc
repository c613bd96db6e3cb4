// SPDX-License-Identifier: Apache-2.0
#include "schema/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>

#include "ops/names.h"

namespace detops::schema {
namespace {

template <class... Ops>
std::vector<const Schema*> SchemasOf(core::OperatorList<Ops...>) {
  return {&SchemaOf<Ops>()...};
}

// Beyond 64 bits the largest number, which no memory holds.
int64_t Times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

Dim ParseDim(const Schema& schema, std::string_view text) {
  Dim dim;
  const size_t star = text.find('*');
  if (star != std::string_view::npos) {
    dim.scalar = static_cast<int>(ScalarNamed(schema, text.substr(star + 1)));
    text = text.substr(0, star);
  }
  const char* end = text.data() + text.size();
  const char* at = std::from_chars(text.data(), end, dim.factor).ptr;
  if (at != end) dim.letter = *at;
  return dim;
}

}  // namespace

const std::vector<const Schema*>& All() {
  static const std::vector<const Schema*> all = SchemasOf(ops::AllOperators());
  return all;
}

const Schema& Named(std::string_view name) {
  std::string names;
  for (const Schema* schema : All()) {
    if (name == schema->name) return *schema;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", schema->name);
  }
  throw UserError(fmt::format("there is no operator '{}'; there are {}", name, names));
}

std::vector<Dim> DimsOf(const Schema& schema, std::string_view shape) {
  std::vector<Dim> dims;
  for (size_t begin = 0; begin < shape.size();) {
    const size_t end = std::min(shape.find(',', begin), shape.size());
    dims.push_back(ParseDim(schema, shape.substr(begin, end - begin)));
    begin = end + 1;
  }
  return dims;
}

size_t ScalarNamed(const Schema& schema, std::string_view name) {
  for (size_t i = 0; i < schema.scalars.size(); ++i) {
    if (name == schema.scalars[i].name) return i;
  }
  throw std::logic_error(fmt::format("{} has no scalar {}", schema.name, name));
}

size_t LetterNamed(const Schema& schema, char letter) {
  for (size_t i = 0; i < schema.letters.size(); ++i) {
    if (letter == schema.letters[i].letter) return i;
  }
  throw std::logic_error(fmt::format("{} has no letter {}", schema.name, letter));
}

Shape ShapeOf(const Schema& schema, std::string_view shape, const std::vector<int64_t>& sizes,
              const std::vector<double>& scalars) {
  Shape dims;
  for (const Dim& dim : DimsOf(schema, shape)) {
    int64_t size = dim.factor;
    if (dim.letter != '\0') size = Times(size, sizes[LetterNamed(schema, dim.letter)]);
    if (dim.scalar >= 0) {
      const double value = scalars[static_cast<size_t>(dim.scalar)];
      size = Times(size, static_cast<int64_t>(std::max(0.0, value)));
    }
    dims.push_back(size);
  }
  return dims;
}

mluOpDataType_t TypeOf(const Tensor& tensor, mluOpDataType_t any) {
  switch (tensor.element) {
    case Element::kFloat: return MLUOP_DTYPE_FLOAT;
    case Element::kInt32: return MLUOP_DTYPE_INT32;
    default: return any;
  }
}

Problem::Problem(const Schema& described) : schema(&described) {
  for (const Scalar& scalar : described.scalars) scalars.push_back(scalar.standard);
}

const Form& Problem::form() const {
  if (schema->form_scalar == nullptr) return schema->forms.front();
  return schema->forms[static_cast<size_t>(scalar(schema->form_scalar))];
}

double Problem::scalar(std::string_view name) const { return scalars[ScalarNamed(*schema, name)]; }

void Problem::set_scalar(std::string_view name, double value) {
  scalars[ScalarNamed(*schema, name)] = value;
}

mluOpDataType_t Problem::type() const {
  return inputs.empty() ? MLUOP_DTYPE_FLOAT : inputs.front().dtype();
}

int64_t Problem::size(char letter) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<Dim> dims = DimsOf(*schema, form().tensors[i].shape);
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d].letter == letter) return inputs[i].dim(d) / dims[d].factor;
    }
  }
  return 0;
}

double Problem::product(std::string_view letters) const {
  double product = 1;
  for (const Dim& dim : DimsOf(*schema, letters)) product *= static_cast<double>(size(dim.letter));
  return product;
}

void Problem::MakeInputs(const std::vector<int64_t>& sizes, mluOpDataType_t type) {
  inputs.clear();
  for (const Tensor& tensor : form().tensors) {
    if (tensor.role != Role::kInput) continue;
    inputs.emplace_back(TypeOf(tensor, type), ShapeOf(*schema, tensor.shape, sizes, scalars),
                        tensor.name);
  }
}

std::vector<Array> Problem::OutlineOutputs() const {
  std::vector<int64_t> sizes;
  for (const Letter& letter : schema->letters) sizes.push_back(size(letter.letter));
  std::vector<Array> outputs;
  for (const Tensor& tensor : form().tensors) {
    if (tensor.role == Role::kInput) continue;
    outputs.push_back(
        Array::Outline(TypeOf(tensor, type()), ShapeOf(*schema, tensor.shape, sizes, scalars)));
  }
  return outputs;
}

std::vector<Array> Problem::MakeOutputs() const {
  std::vector<Array> outputs = OutlineOutputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] =
        Array(outputs[i].dtype(), outputs[i].shape(), form().tensors[inputs.size() + i].name);
  }
  return outputs;
}

Work Problem::tensors() const {
  Work work;
  for (const Array& array : inputs) work.read += BytesOf(array.shape(), array.dtype());
  for (const Array& array : OutlineOutputs()) {
    work.written += BytesOf(array.shape(), array.dtype());
  }
  return work;
}

double Problem::bytes() const {
  const Work work = tensors();
  return work.read + work.written;
}

void Problem::Trim(std::vector<Array>& outputs) const {
  const auto tensors = std::span(form().tensors).subspan(inputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (tensors[i].rows_written == nullptr) continue;
    for (size_t j = 0; j < outputs.size(); ++j) {
      if (std::string_view(tensors[i].rows_written) != tensors[j].name) continue;
      const auto counts = outputs[j].As<int32_t>();
      outputs[i].KeepRows(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
    }
  }
}

}  // namespace detops::schema
