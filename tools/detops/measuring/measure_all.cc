// SPDX-License-Identifier: Apache-2.0
#include "measuring/measure_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "files/json_shape.h"
#include "measuring/timeline.h"
#include "reporting/environment.h"
#include "terminal/terminal.h"

namespace detops::cli {
namespace {

struct Sheet {
  std::string device;
  double gbps, gflops;
};

Sheet ParseSheet(const std::string& text) {
  const size_t equals = text.find('='), comma = text.find(',', equals);
  Sheet sheet = {text.substr(0, equals), 0, 0};
  const auto number = [&](size_t begin, size_t end, double& value) {
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    return error == std::errc() && stop == text.data() + end && value > 0;
  };
  if (equals == std::string::npos || comma == std::string::npos ||
      !number(equals + 1, comma, sheet.gbps) || !number(comma + 1, text.size(), sheet.gflops)) {
    throw UserError(
        fmt::format("--datasheet '{}': write DEVICE=GBPS,GFLOPS, like cpu=80,400", text));
  }
  return sheet;
}

}  // namespace

nlohmann::ordered_json MeasureAll(const std::vector<std::filesystem::path>& files,
                                  const MeasureAllOptions& options, bool shown) {
  RequireKnown(options.device, options.implementation);
  std::vector<Sheet> sheets;
  for (const std::string& text : options.datasheet) sheets.push_back(ParseSheet(text));
  const bool quick = options.quick();
  const Memory memory(quick);
  std::map<std::string, Peaks> peaks;
  Progress progress(files.size() + 1, shown);
  progress.Step("peaks of this machine");
  for (const DeviceInfo& d : Devices()) {
    if (!d.usable || !IsMeant(d, options.device)) continue;
    Peaks& p = peaks[d.name] = MeasurePeaks(d.name, memory, options.threads, quick);
    for (const Sheet& sheet : sheets) {
      if (sheet.device != d.name) continue;
      p.sheet_bytes = sheet.gbps * 1e9, p.sheet_operations = sheet.gflops * 1e9;
    }
  }
  std::vector<Measurement> all;
  for (const std::filesystem::path& file : files) {
    progress.Step(file.stem().string());
    for (Measurement& m : MeasureFile(file, options, memory)) all.push_back(std::move(m));
  }
  // The machine has good and bad minutes: the better of before and after counts.
  for (auto& [device, p] : peaks) {
    const Peaks again = MeasurePeaks(device, memory, options.threads, quick);
    p.fill = std::max(p.fill, again.fill), p.copy = std::max(p.copy, again.copy);
    p.operations = std::max(p.operations, again.operations);
  }
  nlohmann::ordered_json json = {{"kind", "bench"},
                                 {"environment", EnvironmentJson()},
                                 {"peaks", nlohmann::ordered_json::array()},
                                 {"measurements", nlohmann::ordered_json::array()}};
  json["environment"]["quick"] = quick;
  for (const DeviceInfo& d : Devices()) {
    if (peaks.contains(d.name)) json["peaks"].push_back(JsonOf(peaks[d.name]));
  }
  for (const Measurement& m : all) {
    json["measurements"].push_back(JsonOf(m, EfficiencyOf(m.timing, peaks[m.target.device])));
  }
  return json;
}

namespace {

// Earlier runs know of no simulated devices.
bool IsSimulatedOrNot(const Json& m) {
  if (!m.contains("simulated")) return true;
  return m["simulated"].is_boolean() && HasStrings(m, {"type", "shapes"}) &&
         HasNumbersOrNull(m, {"interface_s"}) && m.contains("timeline") &&
         (m["timeline"].is_null() || IsTimeline(m["timeline"]));
}

}  // namespace

nlohmann::ordered_json ReadBenchJson(const std::filesystem::path& file) {
  const auto is_measurement = [](const Json& m) {
    if (!HasStrings(
            m, {"case", "implementation", "device", "skipped", "op", "group", "what", "command"}) ||
        !HasInts(m, {"threads"})) {
      return false;
    }
    if (!m["skipped"].get<std::string>().empty()) return true;
    return HasNumbers(m, {"median_s", "spread", "size", "bytes", "gbps", "workspace_bytes"}) &&
           HasNumbersOrNull(m, {"operations", "gflops", "io_efficiency", "compute_efficiency",
                                "bottleneck_efficiency", "ratio_to_reference"}) &&
           HasStrings(m, {"bottleneck"}) && IsSimulatedOrNot(m) &&
           m["median_s"].get<double>() > 0 && m["bytes"].get<double>() >= 0;
  };
  const auto is_peak = [](const Json& p) {
    return HasStrings(p, {"device"}) &&
           HasNumbersOrNull(
               p, {"fill_gbps", "copy_gbps", "gflops", "datasheet_gbps", "datasheet_gflops"}) &&
           (!p.contains("simulated") ||
            (p["simulated"].is_boolean() && HasNumbersOrNull(p, {"half_gflops"})));
  };
  Json json = ReadJson(file);
  if (!HasStrings(json, {"kind"}) || json["kind"] != "bench" ||
      !HasArray(json, "measurements", is_measurement) || !HasArray(json, "peaks", is_peak) ||
      !HasAll(json, {"environment"}, IsEnvironment)) {
    throw UserError(file.string() + ": was not written by `detops bench --out`");
  }
  return json;
}

}  // namespace detops::cli
