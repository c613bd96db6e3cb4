// SPDX-License-Identifier: Apache-2.0
//
// The bytes choose an operator, its scalars, shapes and the bits of its data. Every CPU
// implementation gives the status and the bits of the reference and touches nothing but its
// tensors; where the arguments are refused, the outputs stay as they were.
#include <algorithm>

#include "fuzz/bytes.h"
#include "fuzz/failure.h"
#include "fuzz/guarded_call.h"
#include "schema/random.h"

using namespace detops;
using fuzz::Bytes;
using schema::Array;

namespace {

// What the reference may take: milliseconds.
constexpr double kMostSteps = 50000, kMostElements = 1 << 16;

double Scalar(Bytes& bytes, const schema::Scalar& scalar) {
  switch (bytes.Below(4)) {
    case 0: return scalar.standard;
    case 1: return bytes.Take<int8_t>();
    case 2: return scalar.illegal.empty() ? 1 : bytes.OneOf(scalar.illegal);
    default: break;
  }
  // Many sizes depend on scalars: none is larger than what a case may take.
  if (scalar.kind != schema::Scalar::Kind::kFloat) return bytes.Take<uint8_t>() * 4;
  return bytes.Below(2) == 0 ? bytes.Take<uint8_t>() / 128.0f : bytes.Take<float>();
}

// Small ones mostly, as a vector's end is met there too.
int64_t Size(Bytes& bytes) {
  const auto choice = bytes.Take<uint8_t>();
  return choice < 200 ? choice % 40 : (choice - 199) * 25;
}

double Elements(const schema::Shape& shape) {
  double elements = 1;
  for (const int64_t dim : shape) elements *= static_cast<double>(dim);
  return elements;
}

double Elements(const schema::Problem& problem, const std::vector<int64_t>& sizes) {
  double elements = 0;
  for (const schema::Tensor& tensor : problem.form().tensors) {
    elements += Elements(ShapeOf(*problem.schema, tensor.shape, sizes, problem.scalars));
  }
  return elements;
}

schema::Problem MakeProblem(Bytes& bytes) {
  const schema::Schema& schema = *bytes.OneOf(schema::All());
  schema::Problem problem(schema);
  for (size_t i = 0; i < schema.scalars.size(); ++i) {
    problem.scalars[i] = Scalar(bytes, schema.scalars[i]);
  }
  if (schema.form_scalar != nullptr) {
    problem.set_scalar(schema.form_scalar, static_cast<double>(bytes.Below(schema.forms.size())));
  }
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < schema.letters.size(); ++i) sizes.push_back(Size(bytes));
  const mluOpDataType_t type = bytes.Below(2) == 0 ? MLUOP_DTYPE_FLOAT : MLUOP_DTYPE_HALF;
  for (;; *std::ranges::max_element(sizes) /= 2) {
    const bool smallest = *std::ranges::max_element(sizes) <= 1;
    if (!smallest && Elements(problem, sizes) > kMostElements) continue;
    problem.MakeInputs(sizes, type);
    if (smallest || schema.reference_steps(problem) <= kMostSteps) return problem;
  }
}

// Few values, so that there are ties, and those that need a rule of their own.
float Value(uint8_t choice) {
  static constexpr float kSpecial[] = {random::kNan, random::kInf, -random::kInf,   -0.0f,
                                       3.0e38f,      -3.0e38f,     65504.0f,        1e-7f,
                                       0.3f,         1e6f,         1.17549435e-38f, 1e-45f};
  constexpr uint8_t kFirstSpecial = 128;
  if (choice >= kFirstSpecial && choice < kFirstSpecial + std::size(kSpecial)) {
    return kSpecial[choice - kFirstSpecial];
  }
  return static_cast<float>(static_cast<int8_t>(choice)) / 4;
}

void SetValues(Bytes& bytes, schema::Problem& problem) {
  for (Array& input : problem.inputs) {
    std::vector<float> values(static_cast<size_t>(input.count()));
    for (size_t i = 0; i < values.size() && !bytes.ended(); ++i) {
      values[i] = Value(bytes.Take<uint8_t>());
    }
    input = Array::FromFloats(input.dtype(), input.shape(), values);
  }
}

void SetBits(Bytes& bytes, schema::Problem& problem) {
  for (Array& input : problem.inputs) {
    const std::span<std::byte> to = input.bytes();
    for (size_t i = 0; i < to.size() && !bytes.ended(); ++i) to[i] = bytes.Take<std::byte>();
  }
}

// A scene in which the bytes that are left set single elements.
void SetScene(Bytes& bytes, schema::Problem& problem) {
  schema::Rng rng(bytes.Take<uint16_t>());
  problem.schema->fill(bytes.OneOf(problem.schema->scenes).name, rng, problem);
  while (!bytes.ended()) {
    Array& input = problem.inputs[bytes.Below(problem.inputs.size())];
    const auto at = bytes.Take<uint16_t>();
    const float value = bytes.Below(2) == 0 ? Value(bytes.Take<uint8_t>()) : bytes.Take<float>();
    if (input.count() == 0) continue;
    const Array one = Array::FromFloats(input.dtype(), {1}, {&value, 1});
    const size_t size = one.bytes().size();
    std::ranges::copy(one.bytes(), input.bytes().begin() + at % input.count() * size);
  }
}

// One dim is another than the operator expects beside the others.
void ChangeDim(Bytes& bytes, schema::Problem& problem, std::vector<Array>& outputs) {
  const std::vector<schema::Tensor>& tensors = problem.form().tensors;
  const size_t at = bytes.Below(tensors.size());
  if (tensors[at].role == schema::Role::kCount) return;  // has no descriptor that could be wrong
  Array& tensor =
      at < problem.inputs.size() ? problem.inputs[at] : outputs[at - problem.inputs.size()];
  schema::Shape shape = tensor.shape();
  int64_t& dim = shape[bytes.Below(shape.size())];
  dim = std::max<int64_t>(0, dim + (bytes.Below(2) == 0 ? 1 : -1));
  // At most twice as many, unless it was a 0 beside dims that together are large.
  if (Elements(shape) > 2 * kMostElements) return;
  tensor = Array(tensor.dtype(), shape);
}

void Compare(Bytes& bytes) {
  using Edge = fuzz::GuardedMemory::Edge;
  static constexpr int kThreads[] = {1, 2, 7};
  const int threads = bytes.OneOf(kThreads);
  const Edge edge = bytes.Below(2) == 0 ? Edge::kEnd : Edge::kBegin;
  const size_t change = bytes.Below(8);
  schema::Problem problem = MakeProblem(bytes);
  std::vector<Array> outputs = problem.MakeOutputs();
  for (Array& output : outputs) std::ranges::fill(output.bytes(), std::byte{0xcd});
  if (change == 1) ChangeDim(bytes, problem, outputs);
  switch (change == 1 ? 0 : bytes.Below(3)) {
    case 0: SetValues(bytes, problem); break;
    case 1: SetBits(bytes, problem); break;
    default: SetScene(bytes, problem);
  }

  fuzz::GuardedCall call(problem, outputs, edge);
  fuzz::Outcome expected;
  for (const std::string& implementation : fuzz::CpuImplementations(problem.schema->name)) {
    const bool is_reference = implementation == "cpu:reference";
    const fuzz::Outcome got =
        call.Run(fuzz::KeptHandle(implementation, is_reference ? 1 : threads));
    if (is_reference) {
      expected = got;
      if (got.status == MLUOP_STATUS_SUCCESS) continue;
      if (!SameBits(got, {got.status, outputs})) fuzz::Fail("a refused call wrote outputs");
    } else if (got.status != MLUOP_STATUS_NOT_SUPPORTED && !SameBits(got, expected)) {
      fuzz::Fail(implementation +
                 " differs from the reference: " + problem.schema->describe(problem));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes bytes(data, size);
  try {
    Compare(bytes);
  } catch (const schema::UserError&) {  // no tensors of these sizes
  }
  return 0;
}
