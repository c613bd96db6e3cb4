// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "cases/case_file.h"
#include "commands/commands.h"
#include "files/file.h"
#include "reporting/environment.h"

namespace detops::cli {
namespace {

namespace fs = std::filesystem;

struct GenRequest {
  explicit GenRequest(const Schema& op) : problem(op) {}
  Problem problem;             // its scalars
  std::vector<int64_t> sizes;  // of the letters
  std::string scene = "scattered", dtype = "float", distribution, out;
  float lower = -1, upper = 1;
  uint64_t seed = 1;
  int count = 1;
  bool values = false;
  Output output;
};

// The values themselves, as bits: no number is rounded on its way through text.
void SpellOut(proto::Case& spec) {
  const Problem problem = MakeProblem({{}, "", "", spec, {}});
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    proto::Tensor& tensor = *spec.mutable_input(static_cast<int>(i));
    tensor.clear_random_data();
    const Array& array = problem.inputs[PositionOf(*problem.schema, i)];
    for (size_t at = 0; at < static_cast<size_t>(array.count()); ++at) {
      tensor.add_value_h(array.dtype() == MLUOP_DTYPE_HALF
                             ? fmt::format("{:04x}", array.As<uint16_t>()[at])
                             : fmt::format("{:08x}", array.As<uint32_t>()[at]));
    }
  }
  spec.clear_scene();
}

proto::Case MakeCase(const GenRequest& request, const std::string& scene,
                     const std::vector<int64_t>& sizes, uint64_t seed) {
  const EndsWithoutMemory end;
  const Schema& op = *request.problem.schema;
  proto::Case spec;
  spec.set_op_name(op.name);
  WriteScalars(request.problem, spec);
  const auto inputs = InputsOf(request.problem);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const schema::Tensor& input = inputs[PositionOf(op, i)];
    if (spec.input_size() <= static_cast<int>(i)) spec.add_input();
    proto::Tensor& tensor = *spec.mutable_input(static_cast<int>(i));
    tensor.set_id(input.name);
    for (const int64_t dim : ShapeOf(op, input.shape, sizes, request.problem.scalars)) {
      tensor.mutable_shape()->add_dims(dim);
    }
    tensor.set_dtype(request.dtype == "half" ? proto::DTYPE_HALF : proto::DTYPE_FLOAT);
    if (request.distribution.empty()) continue;
    auto* random = tensor.mutable_random_data();
    random->set_seed(static_cast<int32_t>(seed + i));
    const bool uniform = request.distribution == "uniform";
    random->set_distribution(uniform ? proto::UNIFORM : proto::GAUSSIAN);
    const float middle = (request.lower + request.upper) / 2;
    if (uniform) {
      random->set_lower_bound(request.lower);
      random->set_upper_bound(request.upper);
    } else {
      random->set_mu(middle);
      random->set_sigma((request.upper - request.lower) / 6);
    }
  }
  if (request.distribution.empty()) {
    spec.mutable_scene()->set_kind(scene);
    spec.mutable_scene()->set_seed(seed);
  }
  if (request.values) SpellOut(spec);
  return spec;
}

void Generate(const GenRequest& request) {
  std::vector<std::string> scenes;
  for (const schema::Scene& kind : request.problem.schema->scenes) {
    if (request.scene == "all" || request.scene == kind.name) scenes.emplace_back(kind.name);
  }
  if (!request.distribution.empty()) scenes = {request.distribution};
  if (scenes.empty()) {
    throw UserError(fmt::format("{} has no scene '{}'; --help lists them",
                                request.problem.schema->name, request.scene));
  }
  if (!(request.lower < request.upper) || !std::isfinite(request.upper - request.lower)) {
    throw UserError(
        fmt::format("--lower {} must be below --upper {}", request.lower, request.upper));
  }
  const bool many = scenes.size() > 1 || request.count > 1;
  if (request.out.empty()) {
    if (many) throw UserError("several cases need a folder: give --out FOLDER");
    const std::string text = WriteCase(MakeCase(request, scenes[0], request.sizes, request.seed));
    fmt::print("{}", request.output.json ? JsonText({{"case", text}}) : text);
    return;
  }
  Rng rng(request.seed);
  std::error_code error;
  if (many) fs::create_directories(request.out, error);
  if (error) {
    throw UserError(fmt::format("{}: can't be made: {}", request.out, error.message()));
  }
  if (!many) RequireWritable(request.out);
  int written = 0;
  for (const std::string& scene : scenes) {
    for (int i = 0; i < request.count; ++i) {
      std::vector<int64_t> sizes = request.sizes;
      // The first has the sizes asked for, the others any up to them.
      for (int64_t& size : sizes) {
        if (i > 0)
          size =
              1 + static_cast<int64_t>(rng() % static_cast<uint64_t>(std::max<int64_t>(1, size)));
      }
      const uint64_t seed = request.seed + static_cast<uint64_t>(i);
      const fs::path file =
          many ? fs::path(request.out) /
                     fmt::format("{}_{}_{}.prototxt", request.problem.schema->name, scene, seed)
               : fs::path(request.out);
      WriteFile(file, WriteCase(MakeCase(request, scene, sizes, seed)));
      ++written;
    }
  }
  if (request.output.json) {
    fmt::print("{}", JsonText({{"written", written}}));
  } else if (!request.output.quiet) {
    fmt::print("{} case(s) written; run them: detops check {}\n", written,
               Shown(Quoted(request.out)));
  }
}

}  // namespace

void AddGen(Command& program, int&) {
  Command gen = program.AddCommand("gen", "write case files, reproducible by seed");
  gen.NeedsCommand();
  gen.Footer(
      "Examples:\n"
      "  detops gen poly_nms --scene near_threshold --n 500 --seed 3 --out near.prototxt\n"
      "  detops gen poly_nms --scene all --count 20 --out cases/mine");
  for (const Schema* op : schema::All()) {
    Command sub = gen.AddCommand(op->name, op->summary);
    auto request = std::make_shared<GenRequest>(*op);
    std::string kinds;
    for (const schema::Scene& kind : op->scenes) {
      kinds += fmt::format("  {:<16} {}\n", kind.name, kind.help);
    }
    request->sizes.resize(op->letters.size());  // before options refer to its elements
    for (size_t i = 0; i < op->letters.size(); ++i) {
      const schema::Letter& letter = op->letters[i];
      request->sizes[i] = letter.standard;
      sub.Add(fmt::format("--{:c}", std::tolower(letter.letter)), request->sizes[i], letter.help)
          .Within(int64_t{0}, int64_t{1} << 40)
          .ShowDefault();
    }
    AddScalarOptions(sub, request->problem);
    sub.Add("--scene", request->scene, "what the inputs look like; all: one case of each")
        .ShowDefault();
    sub.Add("--distribution", request->distribution,
            "instead of a scene: independent numbers, as mluOp's random_data")
        .OneOf({"uniform", "gaussian"});
    sub.Add("--lower", request->lower, "of the numbers; a gaussian has 3 sigma there")
        .ShowDefault();
    sub.Add("--upper", request->upper, "of the numbers").ShowDefault();
    if (op->forms.front().tensors.front().element == schema::Element::kAny) {
      sub.Add("--dtype", request->dtype, "of all inputs").OneOf({"half", "float"}).ShowDefault();
    }
    sub.Add("--seed", request->seed, "the same seed gives the same numbers").ShowDefault();
    sub.Add("--count", request->count, "cases of each scene, of random sizes from the second on")
        .Within(1, 100000)
        .ShowDefault();
    sub.AddFlag("--values", request->values, "write the numbers themselves, not how to make them");
    sub.Add("--out", request->out, "a file; a folder for several; default: the screen")
        .TypeName("PATH");
    AddOutputOptions(sub, request->output);
    sub.Footer(fmt::format(
        "Scenes:\n{}\nExample:\n  detops gen {} --scene ties --seed 7 --out ties.prototxt", kinds,
        op->name));
    sub.OnCall([request] { Generate(*request); });
  }
}

}  // namespace detops::cli
