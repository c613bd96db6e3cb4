// SPDX-License-Identifier: Apache-2.0
//
// One description of an operator, as data: the arguments of its C functions, how they are called,
// and what reports and command lines say of them. It is written once, in src/ops/<op>/schema.cc, on
// the public C API alone; tests of wrong calls, empty tensors and threads, fuzzing, and all
// commands of `detops` come from it.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "detops/detops.h"
#include "schema/array.h"

namespace detops::schema {

struct Problem;

// A size in the shapes of mlu_op.h: tensors with the same letter must agree.
struct Letter {
  char letter;
  int64_t small;     // for tests of arguments: all different, so that a swapped pair shows
  int64_t standard;  // of `detops gen`
  const char* help;
  bool zero_is_legal = true;
};

struct Scalar {
  enum class Kind { kInt, kFloat, kBool };
  const char* name;
  Kind kind;
  double standard;  // wide enough for every scalar of the API
  const char* help;
  std::vector<double> illegal = {};
  std::vector<const char*> choices = {};  // names of 0, 1, ... for people
};

enum class Role {
  kInput,
  kOutput,
  kCount  // an output without a descriptor
};

enum class Element {
  kFloat,
  kInt32,
  kAny  // half or float, the same for all tensors of a call that have it
};

struct Tensor {
  const char* name;  // of the data argument; its descriptor's is name_desc
  Role role;
  Element element;
  // "N,9": letters and constants. "4C" is four times C, "N*count" is N times the scalar `count`.
  const char* shape;
  const char* help;                                // "x1,y1,x2,y2"
  const char* option = nullptr;                    // of `detops run`; null: --name, or none
  std::optional<mluOpTensorLayout_t> layout = {};  // none: any
  const char* other_shape = nullptr;               // legal too
  const char* rows_written = nullptr;              // the output whose sum says how many
};

// What a C function gets, by position in the tensors and scalars.
struct Arguments {
  mluOpHandle_t handle;
  std::vector<mluOpTensorDescriptor_t> descs;
  std::vector<void*> data;
  std::vector<double> scalars;
  void* workspace;
  size_t workspace_size;

  int Int(size_t i) const { return static_cast<int>(scalars[i]); }
  float Float(size_t i) const { return static_cast<float>(scalars[i]); }
  bool Bool(size_t i) const { return scalars[i] != 0; }
};

// A C function. Operators with several forms (aligned or not, NHWC or NCHW) have one for each value
// of a scalar.
struct Form {
  const char* function;         // "mluOpPolyNms"
  std::vector<Tensor> tensors;  // inputs before outputs, in the order of the C function
  mluOpStatus_t (*call)(const Arguments&);
};

// A workspace query; it looks at the first tensor's descriptor.
struct Query {
  const char* function;
  mluOpStatus_t (*call)(const Arguments&, size_t* size);
};

// Data that mean something, by name and seed.
using Rng = std::mt19937_64;
struct Scene {
  const char* name;
  const char* help;
};

// What a call moves and computes.
struct Work {
  double read = 0, written = 0;  // bytes
  double operations = 0;         // of floats
};

struct Schema {
  const char* name;     // "poly_nms": its folder
  const char* summary;  // a line
  const char* example;  // of `detops run`
  std::vector<Letter> letters;
  std::vector<Scalar> scalars;
  std::vector<Form> forms;
  const char* form_scalar = nullptr;  // whose value is the form's number; null: there is one form
  std::vector<Query> queries = {};    // the first is the one to use; none: no workspace

  // Inputs in files: the order in mluOp's case files where it is not the C function's, and whether
  // the first dim may be left out where it is 1.
  std::vector<const char*> case_order = {};
  const char* case_param = nullptr;  // the message with the scalars; null: name + "_param"
  bool batch_is_optional = false;

  std::vector<Scene> scenes;
  // Fills the inputs, whose shapes and types are there.
  void (*fill)(std::string_view scene, Rng& rng, Problem& problem);
  // A problem of random sizes, types, scalars and values, for fuzzing.
  Problem (*random)(Rng& rng);

  // For reports. Bytes are those of all tensors.
  double (*operations)(const Problem&) = nullptr;  // null: operations_per_pair times counted pairs
  double operations_per_pair = 0;
  // The least that any method must do, which gives the limit of a machine. Null where that says
  // nothing, because the work is a search: reports then show time and pairs per item.
  Work (*floor)(const Problem&) = nullptr;
  double (*reference_steps)(const Problem&);  // of the reference's innermost loop
  double (*size)(const Problem&);             // of plots, in
  const char* size_unit;                      // "boxes"
  const char* item;                           // "box"
  const char* limited_by;                     // why it may stay below the machine's peaks
  // The share of a peak that the operator's document asks for, where it names one.
  std::optional<double> efficiency_bar = {};
  std::string (*describe)(const Problem&);  // "[2000,9] scattered threshold 0.1"
  std::string (*summarize)(const Problem&, const std::vector<Array>& results);  // "kept 8 of 10"
};

// One call: the scalars and the inputs.
struct Problem {
  const Schema* schema = nullptr;
  std::vector<double> scalars;
  std::vector<Array> inputs;  // in the order of the form
  std::string scene;          // what the inputs are, where a scene filled them

  explicit Problem(const Schema& described);
  const Form& form() const;
  double scalar(std::string_view name) const;
  void set_scalar(std::string_view name, double value);
  // Half or float: that of the tensors whose element is kAny.
  mluOpDataType_t type() const;
  // Of a letter, as the inputs have it; 0 where they are too short to tell.
  int64_t size(char letter) const;
  // The product of several: "N,H,W,A".
  double product(std::string_view letters) const;
  // Inputs of zeros.
  void MakeInputs(const std::vector<int64_t>& sizes, mluOpDataType_t type);
  // Type and shape of the results alone.
  std::vector<Array> OutlineOutputs() const;
  // Room for the results, of zeros. Throws UserError where no memory could hold it.
  std::vector<Array> MakeOutputs() const;
  Work tensors() const;  // every input read once, every output written once
  double bytes() const;  // of all tensors
  // Keeps the rows that the call wrote.
  void Trim(std::vector<Array>& outputs) const;
};

// The operators of the library, by name. A missing one throws UserError that lists them.
const std::vector<const Schema*>& All();
const Schema& Named(std::string_view name);

// Each src/ops/<op>/schema.cc specialises it.
template <class Op>
const Schema& SchemaOf();

// Each src/ops/<op>/scenes.cc specialises these, for the schema.
template <class Op>
struct Scenes {
  static std::vector<Scene> List();
  static void Fill(std::string_view scene, Rng& rng, Problem& problem);
  static Problem Random(Rng& rng);
};

// ---- parts of a schema
// ---------------------------------------------------------------------------

// A dim of a shape: factor * size of the letter * value of the scalar.
struct Dim {
  int64_t factor = 1;
  char letter = '\0';
  int scalar = -1;
};
std::vector<Dim> DimsOf(const Schema& schema, std::string_view shape);
size_t ScalarNamed(const Schema& schema, std::string_view name);
size_t LetterNamed(const Schema& schema, char letter);
// sizes by position in the letters.
Shape ShapeOf(const Schema& schema, std::string_view shape, const std::vector<int64_t>& sizes,
              const std::vector<double>& scalars);
mluOpDataType_t TypeOf(const Tensor& tensor, mluOpDataType_t any);

}  // namespace detops::schema
