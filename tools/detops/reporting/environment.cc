// SPDX-License-Identifier: Apache-2.0
#include "reporting/environment.h"

#include <fmt/chrono.h>
#include <sys/utsname.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "measuring/machine.h"
#include "running/execution.h"

namespace detops::cli {

std::string JsonText(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json EnvironmentJson() {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const DeviceInfo& d : Devices()) {
    devices.push_back({{"name", d.name},
                       {"description", d.description},
                       {"usable", d.usable},
                       {"reason", d.reason}});
  }
  nlohmann::ordered_json unusable = nlohmann::ordered_json::array();
  for (const Unusable& u : UnusableAmong("", "")) {
    unusable.push_back({{"name", u.name}, {"reason", u.reason}});
  }
  utsname system = {};
  uname(&system);
  return {{"detops", detopsGetVersion()},
          {"time", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr)))},
          {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
          {"compiler", CompilerName()},
          {"threads", DefaultThreads()},
          {"devices", std::move(devices)},
          {"unusable", std::move(unusable)}};
}

}  // namespace detops::cli
