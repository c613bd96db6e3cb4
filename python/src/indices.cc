// SPDX-License-Identifier: Apache-2.0
#include "indices.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace detops::python {
namespace {

// `to` may begin where `from` is, or before it by as much as `from` is long.
void Widen(const int32_t* from, int64_t count, int64_t* to) {
  constexpr int64_t kChunk = 512;
  int32_t chunk[kChunk];
  for (int64_t i = 0; i < count; i += kChunk) {
    const int64_t length = std::min(kChunk, count - i);
    std::memcpy(chunk, from + i, static_cast<size_t>(length) * sizeof *chunk);
    for (int64_t k = 0; k < length; ++k) to[i + k] = chunk[k];
  }
}

}  // namespace

Element IndexElement(const char* function, nb::handle dtype) {
  if (dtype.is_none()) return Element::kInt64;
  // numpy.int32 has a __name__, numpy.dtype("int32") a name; str(torch.int32) is "torch.int32".
  nb::object name = nb::borrow(dtype);
  for (const char* attribute : {"__name__", "name"}) {
    if (nb::hasattr(dtype, attribute)) {
      name = dtype.attr(attribute);
      break;
    }
  }
  const std::string text = TextOf(name);
  const std::string last = text.substr(text.rfind('.') + 1);
  if (last == "int32") return Element::kInt32;
  if (last == "int64") return Element::kInt64;
  Throw(PyExc_TypeError,
        std::string(function) + ": dtype is " + text + "; expected int32 or int64");
}

Output CopyIndices(const Call& call, const int32_t* indices, const Shape& shape, Element element) {
  Output output = call.Empty(shape, element);
  const int64_t count = shape.count();
  if (count == 0) return output;
  if (element == Element::kInt64) {
    Widen(indices, count, static_cast<int64_t*>(output.data));
  } else {
    std::memcpy(output.data, indices, static_cast<size_t>(count) * sizeof *indices);
  }
  return output;
}

IndexOutput::IndexOutput(const Call& call, const Shape& shape, Element element)
    : call_(call),
      element_(element),
      count_(shape.count()),
      output_(call.Empty(shape, call.on_device() ? Element::kInt32 : element)),
      data_(static_cast<int32_t*>(output_.data)) {
  if (element_ == Element::kInt64 && !call.on_device() && count_ > 0) data_ += count_;
}

nb::object IndexOutput::Finish() {
  if (call_.on_device()) {
    nb::object indices = call_.Finish(std::move(output_));
    return element_ == Element::kInt64 ? call_.Framework("to_int64", indices) : indices;
  }
  if (element_ == Element::kInt64) Widen(data_, count_, static_cast<int64_t*>(output_.data));
  return call_.Finish(std::move(output_));
}

}  // namespace detops::python
