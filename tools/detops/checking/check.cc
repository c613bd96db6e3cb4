// SPDX-License-Identifier: Apache-2.0
#include "checking/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "cases/tensor_values.h"
#include "terminal/terminal.h"

namespace detops::cli {
namespace {

namespace fs = std::filesystem;

using Limits = std::array<std::optional<double>, 3>;
using Criteria = std::vector<std::pair<proto::Criterion, double>>;

// What the file itself gives: for all outputs, or for this one.
Criteria CriteriaOf(const proto::Case& spec, size_t output) {
  Criteria given;
  const auto add = [&](const auto& criteria, const auto& thresholds) {
    for (int i = 0; i < std::min(criteria.size(), thresholds.size()); ++i) {
      given.emplace_back(static_cast<proto::Criterion>(criteria.Get(i)), thresholds.Get(i));
    }
  };
  add(spec.test_param().error_func(), spec.test_param().error_threshold());
  add(spec.evaluation_criterion(), spec.evaluation_threshold());
  if (given.empty() && output < static_cast<size_t>(spec.output_size())) {
    add(spec.evaluation_criterion(),
        spec.output(static_cast<int>(output)).thresholds().evaluation_threshold());
  }
  return given;
}

std::optional<Limits> LimitsOf(const proto::Case& spec, size_t output) {
  std::optional<Limits> limits;
  for (const auto& [criterion, threshold] : CriteriaOf(spec, output)) {
    if (criterion > proto::DIFF3) continue;
    if (!limits) limits.emplace();
    (*limits)[static_cast<size_t>(criterion - proto::DIFF1)] = threshold;
  }
  return limits;
}

void NoteUnevaluated(const Problem& problem, std::vector<std::string>& notes) {
  std::set<std::string> names;
  for (size_t i = 0; i < OutputsOf(problem).size(); ++i) {
    for (const auto& [criterion, threshold] : CriteriaOf(problem.spec, i)) {
      if (criterion > proto::DIFF3) names.insert(proto::Criterion_Name(criterion));
    }
  }
  for (const std::string& name : names) notes.push_back(name + " is not evaluated");
}

// The file's criteria take the place of the contract's; what must be equal stays so.
void ApplyCriteria(const Problem& problem, Verdict& verdict) {
  const auto infos = OutputsOf(problem);
  for (size_t i = 0; i < infos.size(); ++i) {
    const std::optional<Limits> limits = LimitsOf(problem.spec, i);
    for (Accuracy& a : verdict.outputs) {
      if (!limits || a.output != infos[i].name || a.exact_wanted) continue;
      Accuracy before = a;
      before.Judge();
      if (a.passed && !before.passed) continue;  // the operator's judge knows why it may pass
      a.limits = *limits;
      a.Judge();
    }
  }
}

// One output against the file's values. mluOp's tests have zeros behind what a call writes.
Accuracy CompareExpected(const char* name, const Array& got, const Array& expected) {
  Array padded(got.dtype(), {std::max(got.count(), expected.count())});
  std::ranges::copy(got.bytes(), padded.bytes().begin());
  if (got.dtype() == MLUOP_DTYPE_INT32) {
    const auto values = expected.As<int32_t>();
    return oracle::CompareIntegers(name, padded, {values.begin(), values.end()});
  }
  const std::vector<float> values = expected.Floats();
  return oracle::CompareFloats(name, padded, {values.begin(), values.end()}, 0);
}

void CompareExpected(const Problem& problem, const std::vector<Array>& results,
                     const Verdict& verdict, CheckRow& row) {
  const auto infos = OutputsOf(problem);
  for (size_t i = 0; i < problem.expected.size(); ++i) {
    if (!problem.expected[i]) continue;
    Accuracy& a =
        row.expected.emplace_back(CompareExpected(infos[i].name, results[i], *problem.expected[i]));
    if (results[i].dtype() != MLUOP_DTYPE_INT32) {
      for (const Accuracy& o : verdict.outputs) {
        if (o.output == a.output) a.limits = o.limits;
      }
      a.limits = LimitsOf(problem.spec, i).value_or(a.limits);
      a.Judge();
    }
    if (a.passed || row.status == Status::kFailed) continue;
    row.status = Status::kFailed;
    row.reason = a.output + " is not what the file expects";
  }
}

void Decide(const Verdict& verdict, CheckRow& row) {
  row.outputs = verdict.outputs;
  row.sample = verdict.sample;
  row.status = verdict.weak.empty() ? Status::kPassed : Status::kWeak;
  row.reason = verdict.weak;
  for (const Accuracy& a : verdict.outputs) {
    if (a.passed) continue;
    row.status = Status::kFailed;
    row.reason = a.output + (a.special_match ? " is beyond its threshold"
                                             : " has NaN or infinities at other places");
    break;
  }
}

struct Answer {
  std::string implementation;
  std::vector<Array> results;
};

void CompareBits(const Answer& first, const std::vector<Array>& results,
                 const std::vector<schema::Tensor>& outputs, CheckRow& row) {
  row.same_bits_as = first.implementation;
  for (size_t i = 0; i < results.size(); ++i) {
    if (SameBits(first.results[i], results[i])) continue;
    row.same_bits = false;
    row.status = Status::kFailed;
    row.reason = fmt::format("{} has other bits than {}'s", outputs[i].name, first.implementation);
    return;
  }
}

}  // namespace

const char* NameOf(Status status) {
  switch (status) {
    case Status::kPassed: return "passed";
    case Status::kWeak: return "weak";
    case Status::kFailed: return "FAILED";
    case Status::kRefused: return "refused";
    case Status::kSkipped: return "skipped";
    case Status::kError: return "ERROR";
  }
  return "";
}

std::string ArgumentOf(const fs::path& file) {
  std::error_code error;
  const fs::path collection = fs::weakly_canonical(CaseCollection(), error);
  const fs::path relative = fs::weakly_canonical(file, error).lexically_relative(collection);
  const bool inside = !relative.empty() && *relative.begin() != "..";
  return Quoted(inside ? (relative.parent_path() / relative.stem()).string() : file.string());
}

std::vector<CheckRow> CheckProblem(const Problem& problem, const CheckRow& about,
                                   const CheckOptions& options) {
  std::vector<CheckRow> rows;
  std::unique_ptr<Judge> judge;
  std::optional<Answer> first;
  CheckRow blank = about;
  NoteUnevaluated(problem, blank.notes);
  for (const Target& target : TargetsOf(*problem.schema, options.device, options.implementation)) {
    CheckRow& row = rows.emplace_back(blank);
    row.target = target;
    row.command = fmt::format("{} --device {} --impl {}", about.command, target.device,
                              target.implementation);
    const bool slow = problem.schema->reference_steps(problem) > kMostReferenceSteps;
    if (IsReference(target.implementation) && slow && !options.reference &&
        options.implementation.empty()) {
      row.status = Status::kSkipped;
      row.reason = "the reference is slow on this size; --impl or --reference runs it";
      continue;
    }
    if (about.long_to_simulate && target.simulated && !options.large &&
        options.implementation.empty()) {
      row.status = Status::kSkipped;
      row.reason = kLongToSimulate;
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    try {
      Execution execution(problem, target);
      execution.Start();
      const std::vector<Array> results = execution.Results();
      if (execution.implementation() != target.implementation && !results.empty() &&
          !execution.implementation().empty()) {
        throw std::runtime_error("another implementation ran: " + execution.implementation());
      }
      // Only now: what the library refuses, the oracle could not stand.
      if (judge == nullptr) judge = oracle::MakeJudge(problem);
      Verdict verdict = judge->Compare(results);
      ApplyCriteria(problem, verdict);
      Decide(verdict, row);
      CompareExpected(problem, results, verdict, row);
      if (first) {
        CompareBits(*first, results, OutputsOf(problem), row);
      } else {
        first = Answer{NameOf(target), results};
      }
    } catch (const RunError& e) {
      row.status = e.refused() ? Status::kRefused : Status::kError;
      row.reason = e.what();
    } catch (const std::bad_alloc&) {
      row.status = Status::kError;
      row.reason = "out of memory";
    } catch (const std::exception& e) {
      row.status = Status::kError;
      row.reason = e.what();
    }
    row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  if (rows.empty()) {
    rows.push_back(about);
    rows[0].target = {options.device, options.implementation};
    rows[0].status = Status::kSkipped;
    rows[0].reason = "this operator has no such implementation on this device";
  }
  return rows;
}

std::vector<CheckRow> CheckFile(const fs::path& file, const CheckOptions& options) {
  CheckRow about;
  about.command =
      "detops check " + ArgumentOf(file) + (options.allow_outside ? " --allow-outside" : "");
  about.name = file.string();
  try {
    const Case what = ReadCase(file);
    about.name = what.name;
    about.group = what.group;
    about.op = what.spec.op_name();
    about.notes = what.notes;
    about.long_to_simulate = what.spec.long_to_simulate();
    const Problem problem = MakeProblem(what, options.allow_outside);
    about.what = problem.schema->describe(problem);
    return CheckProblem(problem, about, options);
  } catch (const NotHere& e) {
    about.status = Status::kSkipped;
    about.reason = e.what();
    return {about};
  } catch (const std::bad_alloc&) {
    about.reason = "out of memory";
  } catch (const std::exception& e) {
    about.reason = e.what();
  }
  about.status = Status::kError;
  return {about};
}

void Tally::Add(Status status) {
  switch (status) {
    case Status::kPassed: ++passed; break;
    case Status::kWeak: ++weak; break;
    case Status::kFailed: ++failed; break;
    case Status::kRefused: ++refused; break;
    case Status::kSkipped: ++skipped; break;
    case Status::kError: ++errors; break;
  }
}

nlohmann::ordered_json JsonOf(const Tally& t) {
  return {{"passed", t.passed},   {"weak", t.weak},       {"failed", t.failed},
          {"refused", t.refused}, {"skipped", t.skipped}, {"errors", t.errors}};
}

nlohmann::ordered_json JsonOf(const CheckRow& row) {
  // JSON has no infinity.
  const auto number = [](double v) {
    return std::isfinite(v) ? nlohmann::ordered_json(v) : nlohmann::ordered_json("inf");
  };
  const auto list = [&](const std::vector<Accuracy>& all) {
    nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
    for (const Accuracy& a : all) {
      nlohmann::ordered_json limits = nlohmann::ordered_json::array();
      for (const auto& limit : a.limits) {
        limits.push_back(limit ? number(*limit) : nlohmann::ordered_json(nullptr));
      }
      outputs.push_back({{"name", a.output},
                         {"diff1", number(a.diff1)},
                         {"diff2", number(a.diff2)},
                         {"diff3", number(a.diff3)},
                         {"special_match", a.special_match},
                         {"limits", limits},
                         {"passed", a.passed}});
    }
    return outputs;
  };
  return {{"case", row.name},
          {"op", row.op},
          {"group", row.group},
          {"what", row.what},
          {"device", row.target.device},
          {"implementation", row.target.implementation},
          {"status", NameOf(row.status)},
          {"reason", row.reason},
          {"sample", row.sample},
          {"outputs", list(row.outputs)},
          {"expected", list(row.expected)},
          {"same_bits_as", row.same_bits_as},
          {"same_bits", row.same_bits},
          {"seconds", row.seconds},
          {"notes", row.notes},
          {"command", row.command}};
}

}  // namespace detops::cli
