// SPDX-License-Identifier: Apache-2.0
#include "checking/check_all.h"

#include <cstdlib>

#include "files/json_shape.h"
#include "reporting/environment.h"
#include "terminal/terminal.h"

namespace detops::cli {
namespace {

bool IsOutput(const Json& o) {
  const auto is_diff = [](const Json& v) { return v.is_number() || v.is_string(); };
  return HasStrings(o, {"name"}) && HasAll(o, {"diff1", "diff2", "diff3"}, is_diff) &&
         HasArray(o, "limits", [&](const Json& v) { return is_diff(v) || v.is_null(); });
}

bool IsResult(const Json& r) {
  return HasStrings(r, {"case", "op", "group", "what", "implementation", "status", "reason",
                        "sample", "command"}) &&
         HasAll(r, {"same_bits"}, [](const Json& v) { return v.is_boolean(); }) &&
         HasArray(r, "outputs", IsOutput);
}

bool IsSummary(const Json& s) {
  return HasInts(s, {"cases", "passed", "weak", "failed", "refused", "skipped", "errors"});
}

}  // namespace

Json CheckAll(const std::vector<std::filesystem::path>& files, const CheckOptions& options,
              bool progress_shown, const std::function<void(const std::vector<CheckRow>&)>& shown) {
  // Of the simulator, which reads it when the first kernel is launched: what it warns of fails a
  // case, too.
  setenv("BANG_CHECK", "strict", /*overwrite=*/0);
  RequireKnown(options.device, options.implementation);
  Tally tally;
  Json results = Json::array();
  {
    Progress progress(files.size(), progress_shown);
    for (const std::filesystem::path& file : files) {
      progress.Step(file.stem().string());
      const std::vector<CheckRow> rows = CheckFile(file, options);
      for (const CheckRow& row : rows) {
        tally.Add(row.status);
        results.push_back(JsonOf(row));
      }
      progress.Clear();
      if (shown) shown(rows);
    }
  }
  Json json = {{"kind", "check"},
               {"environment", EnvironmentJson()},
               {"summary", JsonOf(tally)},
               {"results", std::move(results)}};
  json["summary"]["cases"] = files.size();
  return json;
}

Json ReadCheckJson(const std::filesystem::path& file) {
  Json json = ReadJson(file);
  if (!HasStrings(json, {"kind"}) || json["kind"] != "check" ||
      !HasArray(json, "results", IsResult) || !HasAll(json, {"environment"}, IsEnvironment) ||
      !HasAll(json, {"summary"}, IsSummary)) {
    throw UserError(file.string() + ": was not written by `detops check --out`");
  }
  return json;
}

}  // namespace detops::cli
