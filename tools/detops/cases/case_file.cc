// SPDX-License-Identifier: Apache-2.0
#include "cases/case_file.h"

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstdlib>

#include "cases/tensor_values.h"
#include "files/file.h"
#include "terminal/errors.h"

namespace detops::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostFileBytes = int64_t{256} << 20;
// Cases are four levels deep. What is nested deeper is no case, and would only use up the stack.
constexpr int kMostDepth = 16;

class Collector final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (error.empty()) error = fmt::format("{}:{}: {}", line + 1, column + 1, message);
  }
  void AddWarning(int line, int, const std::string& message) override {
    // "Message type "detops.proto.Case" has no field named "latency"."
    const size_t at = message.find("has no field named \"");
    const std::string what =
        at == std::string::npos
            ? message
            : "unknown field " + message.substr(at + 20, message.rfind('"') - at - 20);
    notes.push_back(fmt::format("line {}: {}, ignored", line + 1, what));
  }
  std::string error;
  std::vector<std::string> notes;
};

// How deep braces go, strings and comments left out.
int DepthOf(const std::string& text) {
  int depth = 0, most = 0;
  char quote = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == '\\') ++i;
      if (c == quote || c == '\n') quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '{' || c == '<' || c == '[') {
      most = std::max(most, ++depth);
    } else if (c == '}' || c == '>' || c == ']') {
      --depth;
    }
  }
  return most;
}

// The last three parts of a/b/cases/poly_nms/edge/ties.prototxt, without the ending.
std::string CaseName(const fs::path& file) {
  std::vector<std::string> parts;
  for (const fs::path& part : fs::absolute(file).lexically_normal()) parts.push_back(part.string());
  const size_t first = parts.size() > 3 ? parts.size() - 3 : 0;
  std::string name;
  for (size_t i = first; i < parts.size(); ++i) name += (name.empty() ? "" : "/") + parts[i];
  const size_t dot = name.rfind(".p");
  return dot == std::string::npos ? name : name.substr(0, dot);
}

// Only of outputs that the file gives values of: the operator itself knows their shapes.
void ReadExpected(const Case& what, const CaseFolder& folder, Problem& problem) {
  const auto infos = OutputsOf(problem);
  for (int i = 0; i < what.spec.output_size(); ++i) {
    const auto at = static_cast<size_t>(i);
    const std::string name =
        fmt::format("{}: output {}{}", what.file.string(), i + 1,
                    at < infos.size() ? fmt::format(" ({})", infos[at].name) : "");
    std::optional<Array>& expected =
        problem.expected.emplace_back(ExpectedTensor(what.spec.output(i), folder, name));
    if (!expected) continue;
    if (at >= infos.size()) {
      throw UserError(fmt::format("{}: has values, but {} has {} outputs", name,
                                  problem.schema->name, infos.size()));
    }
    const Array room = problem.MakeOutputs()[at];
    const auto is_integer = [](const Array& a) { return a.dtype() == MLUOP_DTYPE_INT32; };
    if (is_integer(*expected) != is_integer(room)) {
      throw UserError(fmt::format("{}: has dtype {}; the operator gives {}", name,
                                  schema::NameOf(expected->dtype()), schema::NameOf(room.dtype())));
    }
    if (expected->count() > room.count()) {
      throw UserError(fmt::format("{}: has {} elements, the operator gives at most {}", name,
                                  expected->count(), room.count()));
    }
  }
}

bool IsGroup(const std::string& name) { return std::ranges::find(kGroups, name) != kGroups.end(); }

void Fill(const Case& what, Problem& problem) {
  const proto::Scene& scene = problem.spec.scene();
  const auto& kinds = problem.schema->scenes;
  if (std::ranges::none_of(kinds, [&](const auto& k) { return k.name == scene.kind(); })) {
    std::string names;
    for (const auto& kind : kinds) names += std::string(names.empty() ? "" : ", ") + kind.name;
    throw UserError(fmt::format("{}: {} has no scene '{}'; there are {}", what.file.string(),
                                problem.schema->name, scene.kind(), names));
  }
  Rng rng(scene.seed());
  try {
    problem.schema->fill(scene.kind(), rng, problem);
    problem.scene = scene.kind();
  } catch (const UserError& e) {  // the shapes don't belong to each other
    throw UserError(fmt::format("{}: {}", what.file.string(), e.what()));
  }
}

}  // namespace

Case ParseCase(const fs::path& file, const std::string& text) {
  if (DepthOf(text) > kMostDepth) {
    throw UserError(file.string() + ": is nested too deep to be a case");
  }
  Case what;
  what.file = file;
  what.name = CaseName(file);
  const std::string folder = fs::absolute(file).parent_path().filename().string();
  what.group = IsGroup(folder) ? folder : "other";
  const EndsWithoutMemory end;
  Collector collector;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);
  parser.AllowPartialMessage(true);
  parser.RecordErrorsTo(&collector);
  parser.SetRecursionLimit(kMostDepth);
  if (!parser.ParseFromString(text, &what.spec) || !collector.error.empty()) {
    throw UserError(fmt::format("{}:{}", file.string(),
                                collector.error.empty() ? "is no case" : collector.error));
  }
  what.notes = std::move(collector.notes);
  if (what.spec.op_name().empty()) {
    throw UserError(file.string() + ": has no op_name, so it is no case");
  }
  return what;
}

Case ReadCase(const fs::path& file) { return ParseCase(file, ReadFile(file, kMostFileBytes)); }

Problem MakeProblem(const Case& what, bool allow_outside) {
  const CaseFolder folder = {what.file.parent_path(), allow_outside};
  const auto in_file = [&](const auto& make) {
    try {
      return make();
    } catch (const UserError& e) {
      throw UserError(fmt::format("{}: {}", what.file.string(), e.what()));
    }
  };
  Problem problem(*in_file([&] { return &schema::Named(what.spec.op_name()); }));
  {
    const EndsWithoutMemory end;
    problem.spec = what.spec;
  }
  in_file([&] { ReadScalars(what.spec, problem); });
  const auto inputs = InputsOf(problem);
  if (static_cast<size_t>(what.spec.input_size()) != inputs.size()) {
    throw UserError(fmt::format("{}: {} has {} inputs, the file has {}", what.file.string(),
                                problem.schema->name, inputs.size(), what.spec.input_size()));
  }
  const auto name_of = [&](int input, size_t at) {
    return fmt::format("{}: input {} ({})", what.file.string(), input + 1, inputs[at].name);
  };
  // Before any memory is taken: filling it would take as long as it is large.
  schema::Problem outline(*problem.schema);
  outline.scalars = problem.scalars;
  outline.inputs.resize(inputs.size());
  for (int i = 0; i < what.spec.input_size(); ++i) {
    const size_t at = PositionOf(problem, what.spec, static_cast<size_t>(i));
    outline.inputs[at] = OutlineTensor(what.spec.input(i), name_of(i, at));
  }
  in_file([&] {
    RequireMemory(outline.bytes(), "inputs and outputs");
    return 0;
  });
  problem.inputs.resize(inputs.size());
  for (int i = 0; i < what.spec.input_size(); ++i) {
    const size_t at = PositionOf(problem, what.spec, static_cast<size_t>(i));
    problem.inputs[at] =
        MakeTensor(what.spec.input(i), folder, name_of(i, at), what.spec.has_scene());
  }
  if (what.spec.has_scene()) Fill(what, problem);
  ReadExpected(what, folder, problem);
  return problem;
}

std::string WriteCase(const proto::Case& spec) {
  const EndsWithoutMemory end;
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseShortRepeatedPrimitives(true);
  std::string text;
  printer.PrintToString(spec, &text);
  return text;
}

fs::path CaseCollection() {
  if (const char* given = std::getenv("DETOPS_CASES"); given != nullptr && *given != '\0') {
    return given;
  }
  std::error_code error;
  if (fs::is_directory("cases", error)) return "cases";
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path().parent_path() / "share/detops/cases";
  return fs::is_directory(installed, error) ? installed : fs::path(DETOPS_SOURCE_CASES);
}

std::vector<fs::path> FindCases(const std::vector<std::string>& arguments,
                                const std::vector<std::string>& groups) {
  const fs::path collection = CaseCollection();
  std::vector<fs::path> found;
  const auto add_folder = [&](const fs::path& folder) {
    // "poly_nms/scale" says itself which group is meant.
    const bool named = IsGroup(folder.filename().string());
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const fs::path& file = entry.path();
      if (!entry.is_regular_file() || file.extension() != ".prototxt") continue;
      const std::string group = file.parent_path().filename().string();
      const bool wanted = named || !IsGroup(group) || groups.empty() ||
                          std::ranges::find(groups, group) != groups.end();
      if (wanted) files.push_back(file);
    }
    std::ranges::sort(files);
    found.insert(found.end(), files.begin(), files.end());
  };
  std::error_code error;
  for (const std::string& argument : arguments) {
    if (fs::is_directory(argument, error)) {
      add_folder(argument);
    } else if (fs::exists(argument, error)) {
      found.emplace_back(argument);
    } else if (fs::is_directory(collection / argument, error)) {
      add_folder(collection / argument);
    } else if (fs::exists(collection / (argument + ".prototxt"), error)) {
      found.push_back(collection / (argument + ".prototxt"));
    } else {
      throw UserError(
          fmt::format("'{}' is no case file, folder or part of {}", argument, collection.string()));
    }
  }
  if (arguments.empty()) {
    if (!fs::is_directory(collection, error)) {
      throw UserError(fmt::format("there are no cases at {}; name some, or set DETOPS_CASES",
                                  collection.string()));
    }
    // In the order of the operators, then by group.
    for (const Schema* op : schema::All()) {
      for (const std::string& group : groups.empty() ? kGroups : groups) {
        const fs::path folder = collection / op->name / group;
        if (fs::is_directory(folder, error)) add_folder(folder);
      }
    }
  }
  if (found.empty()) throw UserError("no case is left: the groups asked for have none");
  return found;
}

}  // namespace detops::cli
