// SPDX-License-Identifier: Apache-2.0
#include "measuring/timeline.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "files/file.h"
#include "files/json_shape.h"

namespace detops::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kUnitsPerCluster = 5;  // four cores and the one that moves data
constexpr int kLevels = 4;

enum Kind { kLoad, kStore, kMove, kCompute, kScalar, kWait, kKinds };
constexpr const char* kKindNames[kKinds] = {"load", "store", "move", "compute", "scalar", "wait"};
constexpr const char* kPipeNames[kKinds] = {"IO", "IO", "Move", "Compute", "scalar", "scalar"};

struct Span {
  int unit;
  Kind kind;
  double begin, length;  // in microseconds
};

// Of a process of the trace, which is a core but for the first.
int UnitOf(const Json& event) { return event["pid"].get<int>() - 1; }

Kind KindOf(const Json& event) {
  const std::string name = event["name"];
  if (name.starts_with("wait") || name.starts_with("queue full") || name.starts_with("slowed")) {
    return kWait;
  }
  switch (event["tid"].get<int>()) {
    case 0: return kScalar;
    case 2: return kMove;
    case 3: return kCompute;
    default: {
      const auto copy = event["args"].find("copy");
      const bool stores = copy != event["args"].end() &&
                          copy->get<std::string>().find("to GDRAM") != std::string::npos;
      return stores ? kStore : kLoad;
    }
  }
}

// How much of each column is covered.
using Coverage = std::array<double, kTimelineColumns>;

void Cover(const Span& span, double column, Coverage& coverage) {
  const double end = span.begin + span.length, place = span.begin / column;
  // A broken trace may say anything.
  const int first =
      place < kTimelineColumns ? static_cast<int>(std::max(0.0, place)) : kTimelineColumns;
  for (int i = first; i < kTimelineColumns && i * column < end; ++i) {
    const double part = std::min(end, (i + 1) * column) - std::max(span.begin, i * column);
    coverage[static_cast<size_t>(i)] += part / column;
  }
}

std::string LevelsOf(const Coverage& coverage, double scale) {
  std::string levels;
  for (const double covered : coverage) {
    const double share = covered * scale;
    // Something is never drawn as nothing.
    const int level =
        share <= 0.02 ? 0 : std::clamp(static_cast<int>(std::lround(share * kLevels)), 1, kLevels);
    levels += static_cast<char>('0' + level);
  }
  return levels;
}

using Units = std::map<int, std::array<Coverage, kKinds>>;

Json RowOf(const std::string& name, const std::array<Coverage, kKinds>& kinds, double scale) {
  Json tracks = Json::array();
  for (size_t kind = 0; kind < kKinds; ++kind) {
    const std::string levels = LevelsOf(kinds[kind], scale);
    if (levels.find_first_not_of('0') == std::string::npos) continue;
    tracks.push_back({{"pipe", kPipeNames[kind]}, {"kind", kKindNames[kind]}, {"levels", levels}});
  }
  return {{"name", name}, {"tracks", std::move(tracks)}};
}

bool IsMpu(int unit) { return unit % kUnitsPerCluster == kUnitsPerCluster - 1; }
std::string UnitName(int unit) {
  const int cluster = unit / kUnitsPerCluster;
  return IsMpu(unit) ? fmt::format("MPU of cluster {}", cluster)
                     : fmt::format("core {} of cluster {}", unit % kUnitsPerCluster, cluster);
}

// All cores together, the first, the one that ends last, and an MPU: what differs shows in these.
Json RowsOf(const Units& units, const std::map<int, double>& ends) {
  Json rows = Json::array();
  std::array<Coverage, kKinds> all = {};
  int cores = 0, first = -1, last = -1, mpu = -1;
  for (const auto& [unit, kinds] : units) {
    if (IsMpu(unit)) {
      if (mpu < 0) mpu = unit;
      continue;
    }
    ++cores;
    if (first < 0) first = unit;
    if (last < 0 || ends.at(unit) > ends.at(last)) last = unit;
    for (size_t kind = 0; kind < kKinds; ++kind) {
      for (size_t i = 0; i < kTimelineColumns; ++i) all[kind][i] += kinds[kind][i];
    }
  }
  if (cores > 1) rows.push_back(RowOf(fmt::format("all {} cores", cores), all, 1.0 / cores));
  if (first >= 0) rows.push_back(RowOf(UnitName(first), units.at(first), 1));
  if (last != first) rows.push_back(RowOf(UnitName(last) + ", the last to end", units.at(last), 1));
  if (mpu >= 0) rows.push_back(RowOf(UnitName(mpu), units.at(mpu), 1));
  return rows;
}

// One event per line, as the simulator writes them.
Json EventOf(const std::string& line) {
  const size_t end = line.find_last_of('}');
  if (!line.starts_with("{\"ph\":\"X\"") || end == std::string::npos) return {};
  Json event = Json::parse(line.substr(0, end + 1), nullptr, false);
  const bool whole = HasStrings(event, {"name"}) && HasInts(event, {"pid", "tid"}) &&
                     HasNumbers(event, {"ts", "dur"}) && event.contains("args");
  return whole ? event : Json();
}

// Runs this program; its stderr is the file's.
int Run(const std::vector<std::string>& arguments, const fs::path& errors) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  // Checks change no time.
  std::vector<std::string> variables = {"BANG_CHECK=0"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("BANG_CHECK=")) variables.emplace_back(*variable);
  }
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, "/proc/self/exe", &files, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  if (error != 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct TemporaryFolder {
  fs::path path;
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "detops_timeline_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": can't be made");
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

}  // namespace

Json TimelineOfTrace(const fs::path& trace) {
  std::ifstream in(trace);
  std::vector<Span> spans;
  std::map<int, double> ends;
  Json launches = Json::array();
  double total = 0;
  for (std::string line; std::getline(in, line);) {
    const Json event = EventOf(line);
    if (event.is_null()) continue;
    const double begin = event["ts"], length = event["dur"];
    if (UnitOf(event) < 0) {
      launches.push_back({{"kernel", event["name"]}, {"begin", begin}, {"microseconds", length}});
      total = std::max(total, begin + length);
    } else {
      spans.push_back({UnitOf(event), KindOf(event), begin, length});
      double& end = ends[UnitOf(event)];
      end = std::max(end, begin + length);
    }
  }
  if (total <= 0) throw UserError(trace.string() + ": is no timeline");
  Units units;
  for (const Span& span : spans) {
    auto [unit, fresh] = units.try_emplace(span.unit);
    if (fresh) unit->second = {};
    Cover(span, total / kTimelineColumns, unit->second[span.kind]);
  }
  return {{"microseconds", total}, {"launches", launches}, {"rows", RowsOf(units, ends)}};
}

Json TimelineOf(const fs::path& file, bool allow_outside, const Target& target) {
  const TemporaryFolder folder;
  const fs::path trace = folder.path / "trace.json", errors = folder.path / "errors.txt";
  std::vector<std::string> arguments = {"detops",   "trace",       "case",   file.string(),
                                        "--device", target.device, "--impl", target.implementation,
                                        "--out",    trace.string()};
  if (allow_outside) arguments.emplace_back("--allow-outside");
  if (Run(arguments, errors) != 0) {
    throw RunError(MLUOP_STATUS_EXECUTION_FAILED,
                   "its timeline could not be drawn: " + Shown(ReadFile(errors, 1000)));
  }
  return TimelineOfTrace(trace);
}

bool IsTimeline(const Json& json) {
  const auto is_track = [](const Json& t) {
    if (!HasStrings(t, {"pipe", "kind", "levels"})) return false;
    const std::string levels = t["levels"];
    return levels.size() == kTimelineColumns &&
           levels.find_first_not_of("01234") == std::string::npos;
  };
  return HasNumbers(json, {"microseconds"}) && json["microseconds"].get<double>() > 0 &&
         HasArray(json, "launches",
                  [](const Json& l) {
                    return HasStrings(l, {"kernel"}) && HasNumbers(l, {"begin", "microseconds"});
                  }) &&
         HasArray(json, "rows", [&](const Json& row) {
           return HasStrings(row, {"name"}) && HasArray(row, "tracks", is_track);
         });
}

}  // namespace detops::cli
