// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "reporting/html.h"
#include "reporting/plot.h"
#include "reporting/report.h"
#include "reporting/report_mlu.h"
#include "reporting/report_text.h"
#include "reporting/timeline_figure.h"
#include "terminal/terminal.h"

namespace detops::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string Environment(const Json& report) {
  HtmlTable table({"", ""});
  const Json& e = report["environment"];
  table.Add({"detops", Escaped(Text(e["detops"]))});
  for (const Json& d : e["devices"]) {
    table.Add({"device " + Escaped(Text(d["name"])),
               Escaped(d["usable"].get<bool>() ? Text(d["description"])
                                               : "not usable: " + Text(d["reason"]))});
  }
  for (const Json& p : report["peaks"]) {
    table.Add({"peaks of " + Escaped(Text(p["device"])), PeaksText(p)});
  }
  table.Add({"threads", fmt::format("{}", e["threads"].get<int>())});
  table.Add({"compiler", Escaped(Text(e["compiler"]))});
  table.Add({"system", Escaped(Text(e["system"]))});
  table.Add({"checked, measured", Escaped(Text(e["time"]) + ", " + Text(report["bench_time"]))});
  return table.str();
}

std::string Verdicts(const Json& report) {
  HtmlTable table(
      {"operator", "accuracy", "same bits", "network sizes, bar 60 %", "other sizes, bar 30 %"});
  std::string why;
  for (const Json& op : report["operators"]) {
    const Json& v = op["verdict"];
    const auto efficiency = [](const Json& part) {
      return Badge(KindOfVerdict(Text(part["verdict"])), Text(part["verdict"])) +
             "<br><span class=\"soft\">" + Escaped(EfficiencyText(part)) + "</span>";
    };
    table.Add({"<b>" + Escaped(Text(op["name"])) + "</b>",
               Badge(KindOfVerdict(Text(v["accuracy"])), Text(v["accuracy"])) +
                   "<br><span class=\"soft\">" + Escaped(AccuracyText(v)) + "</span>",
               Badge(KindOfVerdict(Text(v["bits"])), Text(v["bits"])), efficiency(v["network"]),
               efficiency(v["other"])});
    if (!Text(v["reason"]).empty()) {
      why +=
          "<li><b>" + Escaped(Text(op["name"])) + "</b>: " + Escaped(Text(v["reason"])) + "</li>\n";
    }
  }
  return table.str() +
         (why.empty() ? "" : "<p>What limits those that fall short:</p>\n<ul>\n" + why + "</ul>\n");
}

std::string Accuracy(const Json& op) {
  HtmlTable table({"case", "output", "diff1", "diff2", "diff3", "limits", "bits", "status",
                   "compared", "repeat"},
                  "llrrrrllll");
  for (const Json& row : op["accuracy"]) {
    const std::string status = Text(row["status"]), reason = Text(row["reason"]);
    const std::string sample = Text(row["sample"]);
    table.Add(
        {Escaped(ShortName(Text(row["case"]))) + "<br><span class=\"soft\">" +
             Escaped(Text(row["what"])) + "</span>",
         Escaped(Text(row["output"])), Diff(row["diff1"]), Diff(row["diff2"]), Diff(row["diff3"]),
         Escaped(LimitsText(row["limits"])),
         fmt::format("{} x {}", row["implementations"].get<int>(),
                     row["same_bits"].get<bool>() ? "same" : "OTHER"),
         Badge(KindOfVerdict(status), status == "weak" ? "passed, but weak" : status) +
             (reason.empty() ? "" : "<br><span class=\"soft\">" + Escaped(reason) + "</span>"),
         Escaped(sample.empty() ? "all" : sample),
         "<code>" + Escaped(Text(row["command"])) + "</code>"});
  }
  return table.str();
}

std::string Performance(const Json& op) {
  HtmlTable table({"case", "implementation", "time", "±", "GB/s", "GFLOP/s", "io", "compute",
                   "bottleneck", "workspace", "x reference", "repeat"},
                  "llrrrrrrlrrl");
  for (const Json& m : op["measurements"]) {
    const Json& efficiency = m["bottleneck_efficiency"];
    table.Add({Escaped(ShortName(Text(m["case"]))) + "<br><span class=\"soft\">" +
                   Escaped(Text(m["what"])) + "</span>",
               Escaped(RowName(m)), TimeText(m["median_s"]), SpreadText(m), Number(m["gbps"]),
               Number(m["gflops"]), Shares(m, "io"), Shares(m, "compute"),
               efficiency.is_null()
                   ? "–"
                   : Bar(efficiency, Share(efficiency) + " " + Text(m["bottleneck"])),
               BytesText(m["workspace_bytes"].get<double>()), Number(m["ratio_to_reference"]),
               "<code>" + Escaped(Text(m["command"])) + "</code>"});
  }
  return table.str();
}

// A case a row, an implementation a column.
std::string Backends(const Json& op) {
  std::vector<std::string> implementations, cases;
  std::map<std::string, std::map<std::string, double>> times;
  for (const Json& m : op["measurements"]) {
    const std::string implementation = SeriesName(m), name = Text(m["case"]);
    if (std::ranges::find(implementations, implementation) == implementations.end()) {
      implementations.push_back(implementation);
    }
    if (std::ranges::find(cases, name) == cases.end()) cases.push_back(name);
    times[name][implementation] = m["median_s"];
  }
  std::vector<std::string> header = {"case"};
  std::ranges::transform(implementations, std::back_inserter(header), Escaped);
  HtmlTable table(header, "l" + std::string(implementations.size(), 'r'));
  for (const std::string& name : cases) {
    double best = 1e300;
    for (const auto& [implementation, time] : times[name]) {
      if (!implementation.ends_with(kSimulatedSuffix)) best = std::min(best, time);
    }
    std::vector<std::string> cells = {Escaped(ShortName(name))};
    for (const std::string& implementation : implementations) {
      const auto found = times[name].find(implementation);
      if (found == times[name].end()) {
        cells.emplace_back("–");
      } else if (implementation.ends_with(kSimulatedSuffix)) {
        cells.push_back(TimeText(found->second));
      } else {
        cells.push_back(Bar(best / found->second, TimeText(found->second)));
      }
    }
    table.Add(cells);
  }
  return table.str();
}

std::string ScalingPlot(const Json& op) {
  Plot plot;
  plot.title = Text(op["name"]) + ": time against size";
  plot.y_label = "seconds a call";
  plot.x_label = Text(op["size_unit"]);
  plot.y_text = [](double s) {
    // A tick is a power of ten.
    return s >= 0.999     ? fmt::format("{:.0f} s", s)
           : s > 0.999e-3 ? fmt::format("{:.0f} ms", s * 1e3)
           : s > 0.999e-6 ? fmt::format("{:.0f} µs", s * 1e6)
                          : fmt::format("{:.0f} ns", s * 1e9);
  };
  std::vector<Series> series;
  for (const Json& m : op["measurements"]) {
    // One kind of scene: piles are another question.
    const std::string what = Text(m["what"]), id = Text(m["case"]);
    if (what.find("piled") != std::string::npos || what.find("identical") != std::string::npos ||
        what.find("half") != std::string::npos || what.find("with") != std::string::npos) {
      continue;
    }
    const std::string implementation = SeriesName(m);
    auto s = std::ranges::find(series, implementation, &Series::name);
    if (s == series.end()) s = series.insert(series.end(), Series{implementation, {}, true});
    if (m["size"].get<double>() > 0) s->points.emplace_back(m["size"], m["median_s"]);
  }
  for (Series& s : series) std::ranges::sort(s.points);
  const bool enough =
      std::ranges::any_of(series, [](const Series& s) { return s.points.size() >= 3; });
  if (!enough) return "";
  plot.series = std::move(series);
  return Figure(plot);
}

std::string Roofline(const Json& report, const Json& peak) {
  const std::string device = Text(peak["device"]);
  if (peak["gflops"].is_null() && peak["datasheet_gflops"].is_null()) return "";
  Plot plot;
  plot.title = "Roofline of " + device + (IsSimulated(peak) ? kSimulatedSuffix : "");
  plot.x_label = "operations a byte";
  plot.y_label = "GFLOP/s of the fastest implementation of each case; dashed: the peaks";
  double low = 1e300, high = 0;
  for (const Json& op : report["operators"]) {
    std::map<std::string, const Json*> best;
    for (const Json& m : op["measurements"]) {
      if (Text(m["device"]) != device || m["gflops"].is_null() || m["gflops"].get<double>() <= 0)
        continue;
      const Json*& b = best[Text(m["case"])];
      if (b == nullptr || m["median_s"].get<double>() < (*b)["median_s"].get<double>()) b = &m;
    }
    Series s{Text(op["name"]), {}, false};
    for (const auto& [name, m] : best) {
      const double intensity = (*m)["operations"].get<double>() / (*m)["bytes"].get<double>();
      s.points.emplace_back(intensity, (*m)["gflops"].get<double>());
      low = std::min(low, intensity), high = std::max(high, intensity);
    }
    plot.series.push_back(std::move(s));
  }
  const double roof =
      (peak["gflops"].is_null() ? peak["datasheet_gflops"] : peak["gflops"]).get<double>();
  if (high == 0 || peak["copy_gbps"].is_null()) return "";
  const double rate = peak["copy_gbps"], ridge = roof / rate;
  plot.roofs = {{{low / 100, low / 100 * rate}, {ridge, roof}, {high * 100, roof}}};
  return Figure(plot);
}

}  // namespace

std::string ReportHtml(const Json& report) {
  const Json& summary = report["check_summary"];
  std::string body = "<h1>detops acceptance report</h1>\n<p>";
  body += report["correct"].get<bool>() ? Badge("good", "every result is right") + " "
                                        : Badge("bad", "there are wrong results") + " ";
  body += fmt::format(
      "{} cases: {} results passed, {} passed but weak, {} failed, {} refused, {} skipped, {} "
      "errors.</p>\n",
      summary["cases"].get<int>(), summary["passed"].get<int>(), summary["weak"].get<int>(),
      summary["failed"].get<int>(), summary["refused"].get<int>(), summary["skipped"].get<int>(),
      summary["errors"].get<int>());
  if (report["quick"].get<bool>()) {
    body += "<p>" + Badge("bad", "Quick run") +
            " Its times mean nothing: they only fill the page.</p>\n";
  }
  body += "<h2>Verdict</h2>\n<p>" + Escaped(kBarsText) + "</p>\n" + Verdicts(report);
  body += MluHtml(report["mlu"]);
  body += "<h2>Environment</h2>\n" + Environment(report);
  std::string figures;
  for (const Json& peak : report["peaks"]) figures += Roofline(report, peak);
  for (const Json& op : report["operators"]) figures += ScalingPlot(op);
  if (!figures.empty())
    body += "<h2>Pictures</h2>\n<div class=\"figures\">\n" + figures + "</div>\n";
  body += "<h2>Accuracy</h2>\n<p>" + Escaped(kAccuracyText) + "</p>\n";
  for (const Json& op : report["operators"]) {
    if (!op["accuracy"].empty())
      body += "<h3>" + Escaped(Text(op["name"])) + "</h3>\n" + Accuracy(op);
  }
  body += "<h2>Performance</h2>\n<p>" + Escaped(kPerformanceText) + "</p>\n";
  for (const Json& op : report["operators"]) {
    if (!op["measurements"].empty())
      body += "<h3>" + Escaped(Text(op["name"])) + "</h3>\n" + Performance(op);
  }
  body +=
      "<h2>Comparison of implementations</h2>\n<p>Time of a call; the longer the bar, the nearer "
      "to the fastest of the row. Simulated times are another thing, and have no bar.</p>\n";
  for (const Json& op : report["operators"]) {
    if (!op["measurements"].empty())
      body += "<h3>" + Escaped(Text(op["name"])) + "</h3>\n" + Backends(op);
  }
  body += "<h2>What was left out</h2>\n";
  if (report["skipped"].empty()) {
    body += "<p>Nothing.</p>\n";
  } else {
    HtmlTable table({"what", "why", "repeat"});
    for (const Json& s : report["skipped"]) {
      table.Add({Escaped(Text(s["what"])), Escaped(Text(s["why"])),
                 "<code>" + Escaped(Text(s["command"])) + "</code>"});
    }
    body += table.str();
  }
  body += "<h2>Repeat it</h2>\n<p>";
  for (const Json& command : report["commands"])
    body += "<code>" + Escaped(Text(command)) + "</code><br>\n";
  return Page("detops acceptance report", body + "</p>\n",
              report["mlu"].empty() ? "" : TimelineStyle());
}

}  // namespace detops::cli
