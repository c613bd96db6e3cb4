// SPDX-License-Identifier: Apache-2.0
//
// Words and numbers that the forms of the report share, so that they say the same.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "running/execution.h"
#include "terminal/terminal.h"

namespace detops::cli {

inline constexpr char kBarsText[] =
    "Accuracy: the thresholds of the design documents (3e-3 for diff1 and diff2, ten times the "
    "error "
    "of plain float where results are interpolated, everything else equal). Efficiency: the "
    "fastest "
    "implementation of each case against the peak on its bottleneck side, 60 % asked for at sizes "
    "of "
    "networks and 30 % elsewhere. Bytes and operations are counted as the documents count them.";
inline constexpr char kAccuracyText[] =
    "Against an oracle that shares no code with the library: exact or wider arithmetic. diff1 = "
    "sum|a-b| / "
    "sum|b|, diff2 = sqrt(sum(a-b)² / sum b²), diff3 = max |a-b| / |b|; the worst of all "
    "implementations. "
    "'Passed, but weak' is a comparison that says little, with the reason.";
inline constexpr char kPerformanceText[] =
    "Median of the samples; ± is their middle half. io and compute: shares of the peaks that the "
    "same run "
    "measured, and in brackets of the datasheet's. Above 100 % the data stay in a cache, or the "
    "method does less than the documents "
    "count.";

inline std::string Text(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}
inline std::string Number(const nlohmann::ordered_json& value) {
  return value.is_number() ? Figures(value.get<double>()) : "–";
}
inline std::string Share(const nlohmann::ordered_json& value) {
  return value.is_number() ? ShareText(value.get<double>()) : "–";
}
// Of what was measured, and in brackets of the datasheet, where it was given.
inline std::string Shares(const nlohmann::ordered_json& measurement, const std::string& side) {
  const auto sheet = measurement.find("datasheet_" + side + "_efficiency");
  const bool given = sheet != measurement.end() && sheet->is_number();
  return Share(measurement[side + "_efficiency"]) + (given ? " (" + Share(*sheet) + ")" : "");
}
inline std::string RowName(const nlohmann::ordered_json& measurement) {
  return NameOf(Target{Text(measurement["device"]), Text(measurement["implementation"])});
}
// A measurement, or the peaks of a device.
inline bool IsSimulated(const nlohmann::ordered_json& json) {
  return json.value("simulated", false);
}
inline constexpr char kSimulatedSuffix[] = ", simulated";
// In tables and plots beside others.
inline std::string SeriesName(const nlohmann::ordered_json& measurement) {
  return RowName(measurement) + (IsSimulated(measurement) ? kSimulatedSuffix : "");
}
// Simulated times don't scatter.
inline std::string SpreadText(const nlohmann::ordered_json& measurement) {
  return IsSimulated(measurement) ? "simulated" : ShareText(measurement["spread"].get<double>());
}
inline std::string PeaksText(const nlohmann::ordered_json& peak) {
  std::string text;
  if (IsSimulated(peak)) {
    text =
        fmt::format("memory {} GB/s, {} GFLOP/s of float and {} of half, simulated",
                    Number(peak["copy_gbps"]), Number(peak["gflops"]), Number(peak["half_gflops"]));
  } else {
    text =
        fmt::format("fill {} GB/s, copy {} GB/s, {} GFLOP/s, measured in the same run",
                    Number(peak["fill_gbps"]), Number(peak["copy_gbps"]), Number(peak["gflops"]));
  }
  if (!peak["datasheet_gbps"].is_null()) {
    text += fmt::format("; datasheet {} GB/s, {} GFLOP/s", Number(peak["datasheet_gbps"]),
                        Number(peak["datasheet_gflops"]));
  }
  return text;
}
inline std::string Diff(const nlohmann::ordered_json& value) {
  return value.is_number() ? DiffText(value.get<double>()) : "inf";
}
// "edge/ties" of "poly_nms/edge/ties".
inline std::string ShortName(const std::string& name) {
  const size_t slash = name.find('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}
inline std::string LimitsText(const nlohmann::ordered_json& limits) {
  bool exact = true;
  std::string text;
  for (size_t i = 0; i < limits.size(); ++i) {
    exact = exact && limits[i].is_number() && limits[i].get<double>() == 0;
    if (!limits[i].is_null() && text.find(Diff(limits[i])) == std::string::npos) {
      text += (text.empty() ? "" : ", ") + Diff(limits[i]);
    }
  }
  return exact ? "equal" : text;
}
// Empty where nothing was measured, or compared.
inline std::string EfficiencyText(const nlohmann::ordered_json& part) {
  if (part["cases"].get<int>() == 0) return "";
  return fmt::format("{} of {} cases, lowest {}", part["met"].get<int>(), part["cases"].get<int>(),
                     Share(part["lowest"]));
}
inline std::string AccuracyText(const nlohmann::ordered_json& verdict) {
  if (verdict["accuracy"] == "not checked") return "";
  return fmt::format("{} outputs compared, {} failed, {} weak; worst diff1 {}, diff2 {}",
                     verdict["compared"].get<int>(), verdict["failed"].get<int>(),
                     verdict["weak"].get<int>(), Diff(verdict["worst_diff1"]),
                     Diff(verdict["worst_diff2"]));
}

}  // namespace detops::cli
