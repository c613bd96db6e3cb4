// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "measuring/measure.h"

namespace detops::cli {

using Json = nlohmann::ordered_json;

nlohmann::ordered_json JsonOf(const Peaks& p) {
  const auto rate = [](double value) {
    return value > 0 ? nlohmann::ordered_json(value * 1e-9) : nlohmann::ordered_json(nullptr);
  };
  return {{"device", p.device},
          {"fill_gbps", rate(p.fill)},
          {"copy_gbps", rate(p.copy)},
          {"gflops", rate(p.operations)},
          {"half_gflops", rate(p.half_operations)},
          {"simulated", p.simulated},
          {"datasheet_gbps", rate(p.sheet_bytes)},
          {"datasheet_gflops", rate(p.sheet_operations)}};
}

nlohmann::ordered_json JsonOf(const Measurement& m, const Efficiency& e) {
  const auto maybe = [](const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); };
  const auto counted = [](int64_t v) { return v < 0 ? Json(nullptr) : Json(v); };
  Json json = {{"case", m.name},
               {"op", m.op},
               {"group", m.group},
               {"what", m.what},
               {"scene", m.scene},
               {"size", m.size},
               {"size_unit", m.size_unit},
               {"type", m.type},
               {"shapes", m.shapes},
               {"item", m.item},
               {"shown_in", m.shown_in},
               {"device", m.target.device},
               {"implementation", m.target.implementation},
               {"simulated", m.target.simulated},
               {"threads", m.threads},
               {"command", m.command},
               {"skipped", m.skipped},
               {"failed", m.failed}};
  if (!m.skipped.empty()) return json;
  const schema::Work& tensors = m.timing.tensors;
  const double bytes = tensors.read + tensors.written;
  std::optional<double> operations;
  if (m.timing.counts_operations) operations = tensors.operations;
  std::vector<double> scaling, memory_scaling;
  for (const Turn& turn : m.turns) {
    scaling.push_back(turn.one_thread / turn.all_threads);
    if (turn.memory_scaling) memory_scaling.push_back(*turn.memory_scaling);
  }
  const auto median = [](const std::vector<double>& values) {
    return values.empty() ? Json(nullptr) : Json(Median(values));
  };
  json["repeats"] = m.repeats;
  json["median_s"] = m.median;
  json["fastest_s"] = m.fastest;
  json["spread"] = m.spread;
  json["device_s"] = maybe(m.device_seconds);
  json["interface_s"] = maybe(m.interface_seconds);
  json["bytes"] = bytes;
  json["operations"] = maybe(operations);
  json["pairs"] = counted(m.pairs);
  json["candidates"] = counted(m.candidates);
  json["gbps"] = bytes / m.timing.seconds * 1e-9;
  json["gflops"] = operations ? Json(*operations / m.timing.seconds * 1e-9) : Json(nullptr);
  json["ns_per_item"] =
      m.size > 0 ? Json(m.timing.seconds * 1e9 / static_cast<double>(m.size)) : Json(nullptr);
  json["io_efficiency"] = maybe(e.io);
  json["compute_efficiency"] = maybe(e.compute);
  json["datasheet_io_efficiency"] = maybe(e.sheet_io);
  json["datasheet_compute_efficiency"] = maybe(e.sheet_compute);
  json["bottleneck"] = e.side;
  json["bottleneck_efficiency"] = maybe(e.bottleneck);
  json["limit_s"] = maybe(e.limit_seconds);
  json["share_of_limit"] = maybe(e.of_limit);
  json["ratio_to_one_thread"] = median(scaling);
  json["memory_ratio_to_one_thread"] = median(memory_scaling);
  json["in_cache"] = m.timing.in_cache;
  json["workspace_bytes"] = m.workspace_bytes;
  json["ratio_to_reference"] = maybe(m.ratio);
  json["same_bits_as"] = m.verified;
  json["timeline"] = m.timeline;
  return json;
}

}  // namespace detops::cli
