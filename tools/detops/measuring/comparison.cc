// SPDX-License-Identifier: Apache-2.0
#include "measuring/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "terminal/errors.h"
#include "terminal/terminal.h"

namespace detops::cli {

using Json = nlohmann::ordered_json;

namespace {

std::string KeyOf(const Json& m) {
  return fmt::format("{} {} {} {}", m["case"].get<std::string>(), m["device"].get<std::string>(),
                     m["implementation"].get<std::string>(), m["threads"].get<int>());
}
bool Timed(const Json& m) { return m["skipped"].get<std::string>().empty(); }

}  // namespace

Json Compare(const Json& old, const Json& now, double tolerance) {
  Json rows = Json::array();
  int slower = 0, faster = 0, missing = 0;
  for (const Json& m : now["measurements"]) {
    if (!Timed(m)) continue;
    const auto before = std::ranges::find_if(
        old["measurements"], [&](const Json& o) { return Timed(o) && KeyOf(o) == KeyOf(m); });
    if (before == old["measurements"].end()) {
      ++missing;
      continue;
    }
    const double then_s = (*before)["median_s"], now_s = m["median_s"];
    const double noise = (*before)["spread"].get<double>() + m["spread"].get<double>();
    const double bar = 1 + std::max(tolerance, noise);
    const char* verdict = now_s > then_s * bar   ? "slower"
                          : then_s > now_s * bar ? "faster"
                                                 : "same";
    slower += verdict == std::string("slower");
    faster += verdict == std::string("faster");
    rows.push_back({{"case", m["case"]},
                    {"implementation", m["implementation"]},
                    {"old_s", then_s},
                    {"new_s", now_s},
                    {"ratio", now_s / then_s},
                    {"verdict", verdict}});
  }
  return {{"tolerance", tolerance}, {"slower", slower},        {"faster", faster},
          {"not_in_old", missing},  {"compared", rows.size()}, {"rows", rows}};
}

void PrintComparison(const Json& c, const std::string& old_name) {
  fmt::print("\nagainst {}: {} compared, {} slower, {} faster, {} not in it\n", Shown(old_name),
             c["compared"].get<int>(), c["slower"].get<int>(), c["faster"].get<int>(),
             c["not_in_old"].get<int>());
  Table table({"case", "implementation", "then", "now", "now/then", ""}, "llrrrl");
  for (const Json& row : c["rows"]) {
    const std::string verdict = row["verdict"];
    if (verdict == "same") continue;
    table.Add({row["case"], row["implementation"], TimeText(row["old_s"]), TimeText(row["new_s"]),
               Figures(row["ratio"]), verdict},
              verdict == "slower" ? Colour::kRed : Colour::kGreen);
  }
  if (c["slower"].get<int>() + c["faster"].get<int>() > 0) table.Print();
}

}  // namespace detops::cli
