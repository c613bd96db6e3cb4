// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "commands/commands.h"
#include "reporting/environment.h"
#include "running/execution.h"

namespace detops::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Row {
  std::string op, implementation, device, why_not;
};

std::vector<Row> Rows() {
  std::vector<Row> rows;
  for (const ImplementationInfo& i : Implementations()) {
    for (const DeviceInfo& device : Devices()) {
      if (BackendOf(device.name) != BackendOf(i.name)) continue;
      // A device can be unusable beside others of its backend that are not.
      rows.push_back(
          {i.op, i.name, device.name, i.usable && !device.usable ? device.reason : i.reason});
    }
  }
  return rows;
}

void PrintJson(const std::vector<Row>& rows) {
  Json json = Json::object();
  json["version"] = detopsGetVersion();
  json["devices"] = Json::array();
  for (const DeviceInfo& d : Devices()) {
    json["devices"].push_back({{"name", d.name},
                               {"description", d.description},
                               {"usable", d.usable},
                               {"simulated", d.simulated},
                               {"reason", d.reason}});
  }
  json["operators"] = Json::array();
  for (const Schema* op : schema::All()) {
    Json list = Json::array();
    for (const Row& row : rows) {
      if (row.op != op->name) continue;
      list.push_back({{"name", row.implementation},
                      {"device", row.device},
                      {"usable", row.why_not.empty()},
                      {"reason", row.why_not}});
    }
    json["operators"].push_back(
        {{"name", op->name}, {"summary", op->summary}, {"implementations", std::move(list)}});
  }
  fmt::print("{}", JsonText(json));
}

void Print(const std::vector<Row>& rows) {
  fmt::print("detops {}\n\n", detopsGetVersion());
  Table devices({"device", "usable", "what"});
  for (const DeviceInfo& d : Devices()) {
    devices.Add({d.name, d.usable ? "yes" : "no", d.usable ? d.description : d.reason},
                d.usable ? Colour::kNone : Colour::kDim);
  }
  devices.Print();
  for (const Schema* op : schema::All()) {
    fmt::print("\n{}  {}\n", Coloured(Colour::kBold, op->name), op->summary);
    Table table({"  implementation", "device", "usable"});
    std::set<std::string> chosen;  // devices whose preferred implementation was named
    for (const Row& row : rows) {
      if (row.op != op->name) continue;
      const bool usable = row.why_not.empty();
      const bool preferred = usable && chosen.insert(row.device).second;
      table.Add({"  " + row.implementation, row.device,
                 usable ? (preferred ? "yes, preferred" : "yes") : "no: " + row.why_not},
                usable ? Colour::kNone : Colour::kDim);
    }
    table.Print();
  }
}

}  // namespace

void AddList(Command& program, int&) {
  Command list =
      program.AddCommand("list", "operators, implementations and devices, usable or why not");
  auto output = std::make_shared<Output>();
  AddOutputOptions(list, *output);
  list.Footer("Example:\n  detops list");
  list.OnCall([output] {
    const std::vector<Row> rows = Rows();
    if (output->json) {
      PrintJson(rows);
    } else if (!output->quiet) {
      Print(rows);
    }
  });
}

}  // namespace detops::cli
