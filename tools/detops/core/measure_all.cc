// SPDX-License-Identifier: Apache-2.0
#include "core/measure_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "core/environment.h"
#include "core/npy.h"
#include "core/terminal.h"

namespace detops::cli {
namespace {

constexpr int64_t kMostJsonBytes = int64_t{256} << 20;

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
  std::vector<Sheet> sheets;
  for (const std::string& text : options.datasheet) sheets.push_back(ParseSheet(text));
  const bool quick = options.seconds < 0.05;
  std::map<std::string, Peaks> peaks;
  Progress progress(files.size() + 1, shown);
  progress.Step("peaks of this machine");
  for (const DeviceInfo& d : Devices()) {
    if (!d.usable || (!options.device.empty() && options.device != d.name)) continue;
    Peaks& p = peaks[d.name] = MeasurePeaks(d.name, options.threads, quick);
    for (const Sheet& sheet : sheets) {
      if (sheet.device != d.name) continue;
      p.sheet_bytes = sheet.gbps * 1e9, p.sheet_operations = sheet.gflops * 1e9;
    }
  }
  std::vector<Measurement> all;
  for (const std::filesystem::path& file : files) {
    progress.Step(file.stem().string());
    for (Measurement& m : MeasureFile(file, options)) all.push_back(std::move(m));
  }
  // The machine has good and bad minutes: the better of before and after counts.
  for (auto& [device, p] : peaks) {
    const Peaks again = MeasurePeaks(device, options.threads, quick);
    p.fill = std::max(p.fill, again.fill), p.copy = std::max(p.copy, again.copy);
    p.operations = std::max(p.operations, again.operations);
  }
  nlohmann::ordered_json json = {{"kind", "bench"},
                                 {"environment", EnvironmentJson()},
                                 {"peaks", nlohmann::ordered_json::array()},
                                 {"measurements", nlohmann::ordered_json::array()}};
  json["environment"]["quick"] = quick;
  for (const auto& [device, p] : peaks) json["peaks"].push_back(JsonOf(p));
  for (const Measurement& m : all) {
    json["measurements"].push_back(JsonOf(m, EfficiencyOf(m, peaks[m.target.device])));
  }
  return json;
}

nlohmann::ordered_json ReadBenchJson(const std::filesystem::path& file) {
  auto json = nlohmann::ordered_json::parse(ReadFile(file, kMostJsonBytes), nullptr, false);
  if (json.is_discarded()) throw UserError(file.string() + ": is no JSON");
  const auto valid = [](const nlohmann::ordered_json& m) {
    if (!m.is_object()) return false;
    for (const char* key : {"case", "implementation", "device", "skipped", "op", "group", "what"}) {
      if (!m.contains(key) || !m[key].is_string()) return false;
    }
    if (!m.contains("threads") || !m["threads"].is_number()) return false;
    if (!m["skipped"].get<std::string>().empty()) return true;
    for (const char* key : {"median_s", "spread", "size", "gbps", "workspace_bytes"}) {
      if (!m.contains(key) || !m[key].is_number()) return false;
    }
    return m["median_s"].get<double>() > 0;
  };
  if (!json.is_object() || json.value("kind", "") != "bench" || !json.contains("measurements") ||
      !json["measurements"].is_array() || !std::ranges::all_of(json["measurements"], valid)) {
    throw UserError(file.string() + ": was not written by `detops bench --out`");
  }
  return json;
}

}  // namespace detops::cli
