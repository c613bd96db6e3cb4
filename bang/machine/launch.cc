// SPDX-License-Identifier: Apache-2.0
//
// A launch: what <<< >>> asks for is checked, its tasks run on threads of the host, and what they
// did becomes simulated time.
#include <stdio.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "bang/simulator.h"
#include "clock/clock.h"
#include "machine/failure.h"
#include "machine/faults.h"
#include "machine/host_memory.h"
#include "machine/launch_report.h"
#include "machine/launch_state.h"
#include "machine/options.h"
#include "machine/running_core.h"
#include "machine/union_task.h"
#include "machine/workers.h"

namespace bang {
namespace {

struct Configuration {
  Where where;
  cnrtDim3_t dim;
  cnrtFunctionType_t type;
  cnrtQueue_t queue;
};
thread_local Configuration configuration;

using HostClock = std::chrono::steady_clock;
thread_local double launch_seconds = 0;

// Adds the time of a launch, however it ends.
struct LaunchTimer {
  const HostClock::time_point begin = HostClock::now();
  ~LaunchTimer() {
    launch_seconds += std::chrono::duration<double>(HostClock::now() - begin).count();
  }
};

// What does not fit is refused before it runs.
struct Refusal {
  cnrtRet_t error;
  std::string text;
  // No compiler would have made a program of it: later calls fail, too, as after a trap.
  bool sticky = false;
};

int UnionClusters(cnrtFunctionType_t type) {
  switch (type) {
    case cnrtFuncTypeBlock:
      return 0;
    case cnrtFuncTypeUnion1:
      return 1;
    case cnrtFuncTypeUnion2:
      return 2;
    case cnrtFuncTypeUnion4:
      return 4;
    case cnrtFuncTypeUnion8:
      return 8;
    default:
      return -1;
  }
}

void CheckDimensions(LaunchState* launch, cnrtFunctionType_t type) {
  const Where where = launch->where;
  const cnrtDim3_t& dim = launch->dim;
  const int clusters = UnionClusters(type);
  if (clusters < 0) {
    throw Refusal{cnrtErrorArgsInvalid,
                  Format("%s: error: %d is no kind of launch; expected cnrtFuncTypeBlock or "
                         "cnrtFuncTypeUnion1, 2, 4 or 8",
                         At(where).c_str(), static_cast<int>(type))};
  }
  const auto x = static_cast<int64_t>(dim.x), y = static_cast<int64_t>(dim.y),
             z = static_cast<int64_t>(dim.z);
  constexpr int64_t kMaxTasks = INT32_MAX;
  if (x <= 0 || y <= 0 || z <= 0 || x > kMaxTasks / y || x * y > kMaxTasks / z) {
    throw Refusal{cnrtErrorArgsInvalid,
                  Format("%s: error: the dimensions are %lld x %lld x %lld; each has to be positive, "
                         "and their product an int",
                         At(where).c_str(), static_cast<long long>(x), static_cast<long long>(y),
                         static_cast<long long>(z))};
  }
  if (clusters > launch->card->clusters) {
    throw Refusal{cnrtErrorInvalidKernel,
                  Format("%s: error: a union of %d clusters does not fit on %s, which has %d",
                         At(where).c_str(), clusters, launch->card->name.c_str(),
                         static_cast<int>(launch->card->clusters))};
  }
  if (clusters > 0 && x % (kCoresPerCluster * clusters) != 0) {
    throw Refusal{cnrtErrorArgsInvalid,
                  Format("%s: error: dim.x is %lld; for cnrtFuncTypeUnion%d it has to be a multiple "
                         "of %d, the cores of %d cluster%s",
                         At(where).c_str(), static_cast<long long>(x), clusters,
                         kCoresPerCluster * clusters, clusters, clusters == 1 ? "" : "s")};
  }
  launch->union_clusters = clusters;
  launch->tasks_per_unit = std::max(1, kCoresPerCluster * clusters);
  launch->tasks = x * y * z;
  launch->units = launch->tasks / launch->tasks_per_unit;
}

void CheckCapacity(const LaunchState& launch) {
  const KernelRecord& kernel = launch.kernel;
  const Card& card = *launch.card;
  int64_t used[5] = {};
  const ArrayRecord* largest[5] = {};
  for (const ArrayRecord* record = launch.module.begin; record != launch.module.end; ++record) {
    if (record->file_id != kernel.file_id) continue;
    const uint32_t* const end = kernel.arrays + kernel.array_count;
    if (std::find(kernel.arrays, end, record->id) == end) continue;
    const int space = static_cast<int>(record->space);
    used[space] += record->bytes;
    if (largest[space] == nullptr || record->bytes > largest[space]->bytes) {
      largest[space] = record;
    }
  }
  const struct {
    Space space;
    int64_t capacity;
    const char* owner;
  } limits[] = {{Space::kNram, card.nram_bytes - card.nram_stack_bytes, "a core"},
                {Space::kWram, card.wram_bytes, "a core"},
                {Space::kLdram, card.ldram_bytes, "a core"},
                {Space::kSram, card.sram_bytes, "a cluster"}};
  for (const auto& limit : limits) {
    const int space = static_cast<int>(limit.space);
    if (used[space] <= limit.capacity) continue;
    const ArrayRecord& array = *largest[space];
    throw Refusal{cnrtErrorInvalidKernel,
                  Format("%s:%d: error: kernel %s needs %lld bytes of %s, and %s of %s has %lld%s; the "
                         "largest array is %s, %lld bytes",
                         array.file, array.line, kernel.name, static_cast<long long>(used[space]),
                         SpaceName(limit.space), limit.owner, card.name.c_str(),
                         static_cast<long long>(limit.capacity),
                         limit.space == Space::kNram ? " beside the compiler's stack" : "", array.name,
                         static_cast<long long>(array.bytes)),
                  true};
  }
}

void CheckArch(const LaunchState& launch) {
  if (launch.kernel.arch == static_cast<int>(launch.card->arch)) return;
  throw Refusal{cnrtErrorInvalidKernel,
                Format("%s: error: kernel %s was compiled for mtp_%d, and %s is mtp_%d; compile it "
                       "with --bang-mlu-arch=mtp_%d or set BANG_DEVICE",
                       At(launch.where).c_str(), launch.kernel.name, launch.kernel.arch,
                       launch.card->name.c_str(), static_cast<int>(launch.card->arch),
                       static_cast<int>(launch.card->arch)),
                true};
}

Task MakeTask(const LaunchState& launch, int64_t unit, int member) {
  const bool is_mpu = launch.union_clusters > 0 && UnionTask::IsMpu(member);
  const int cluster = launch.union_clusters > 0 ? UnionTask::Cluster(member) : 0;
  const int core = launch.union_clusters > 0 ? member % kMembersPerCluster : 0;
  Task task{};
  task.id = static_cast<int>(unit * launch.tasks_per_unit + cluster * kCoresPerCluster +
                             (is_mpu ? 0 : core));
  task.dim = static_cast<int>(launch.tasks);
  task.dim_x = static_cast<int>(launch.dim.x);
  task.dim_y = static_cast<int>(launch.dim.y);
  task.dim_z = static_cast<int>(launch.dim.z);
  task.id_x = task.id % task.dim_x;
  task.id_y = task.id / task.dim_x % task.dim_y;
  task.id_z = task.id / task.dim_x / task.dim_y;
  task.cluster_id = cluster;
  task.cluster_dim = launch.union_clusters;
  task.core_id = is_mpu ? kMpuCoreId : core;
  task.core_dim = kCoresPerCluster;
  return task;
}

// More than this is not kept in memory: such a launch has no simulated time.
constexpr int64_t kMaxOperations = 60'000'000;

// Runs one member of a unit. Returns whether it failed.
bool RunMember(LaunchState* launch, int64_t unit, UnionTask* union_task, int member,
               RunningCore* core) {
  UnitResult& result = launch->results[unit];
  const Task task = MakeTask(*launch, unit, member);
  const bool record = GetOptions().clock && launch->recording;
  Program program{task.id, task.cluster_id, task.core_id, {}};
  bool failed = false;
  try {
    core->Run(launch, unit, union_task, member, task, record ? &program.operations : nullptr);
  } catch (const Failure& failure) {
    failed = true;
    result.failure = failure.text;
  } catch (const Abandoned&) {
  } catch (const std::bad_alloc&) {
    failed = true;
    result.failure = At(launch->where) + ": error: the host's memory is used up";
  }
  result.output += core->output();
  core->output().clear();
  result.remarks.insert(result.remarks.end(), core->remarks().begin(), core->remarks().end());
  if (record) {
    const auto count = static_cast<int64_t>(program.operations.size());
    if (launch->operations_recorded.fetch_add(count) + count > kMaxOperations) {
      launch->recording = false;
    }
    if (launch->recording) {
      result.programs[member] = std::move(program);
      result.glossaries[member] = core->glossary();
    }
  }
  if (failed) {
    int64_t first = launch->first_failed.load();
    while (unit < first && !launch->first_failed.compare_exchange_weak(first, unit)) {
    }
  }
  return failed;
}

// Most of what runs too long sees it by itself.
std::chrono::steady_clock::time_point InterruptAt(const LaunchState& launch) {
  if (launch.time_limit <= 0) return std::chrono::steady_clock::time_point::max();
  return launch.deadline + std::chrono::milliseconds(500);
}

// False: the threads can't be had.
bool RunBlocks(LaunchState* launch, int lanes) {
  std::atomic<int64_t> next{0};
  return RunWorkers(lanes, InterruptAt(*launch), [&](int, RunningCore* core) {
    for (int64_t unit = next++; unit < launch->units; unit = next++) {
      if (launch->first_failed.load() < unit) break;
      RunMember(launch, unit, nullptr, 0, core);
    }
  });
}

bool RunUnions(LaunchState* launch, int lanes) {
  std::atomic<int64_t> next{0};
  std::vector<std::unique_ptr<UnionTask>> unions;
  for (int i = 0; i < lanes; ++i) {
    unions.push_back(std::make_unique<UnionTask>(launch->union_clusters, &next, launch->units));
    unions.back()->Start();
  }
  const int members = unions[0]->members();
  return RunWorkers(lanes * members, InterruptAt(*launch), [&](int worker, RunningCore* core) {
    UnionTask& union_task = *unions[worker / members];
    const int member = worker % members;
    for (int64_t unit; (unit = union_task.Enter(member, core)) >= 0;) {
      bool failed = false;
      if (!union_task.abandoned() && launch->first_failed.load() >= unit) {
        failed = RunMember(launch, unit, &union_task, member, core);
      }
      union_task.Leave(member, failed);
    }
  });
}

bool RunUnits(LaunchState* launch) {
  const int per_unit = std::max(1, launch->union_clusters * kMembersPerCluster);
  launch->results.resize(launch->units);
  // Atomics put tasks in an order; how, is not followed.
  if (launch->check && launch->units > 1 && !launch->kernel.ordered) {
    launch->stored = std::make_unique<StoredBytes>();
  }
  for (UnitResult& result : launch->results) {
    result.programs.resize(per_unit);
    result.glossaries.resize(per_unit);
  }
  // Atomics and locks give equal results on every run only in one order.
  const int64_t threads = launch->kernel.ordered ? 1 : GetOptions().threads;
  const int lanes = static_cast<int>(std::min(threads, launch->units));
  const FaultHandlers handlers;
  return launch->union_clusters == 0 ? RunBlocks(launch, lanes) : RunUnions(launch, lanes);
}

// The programs of all units, with numbers of sites and costs that hold for all of them.
LaunchRecord CollectPrograms(LaunchState* launch) {
  LaunchRecord record;
  record.kernel = launch->kernel.name;
  record.file = launch->where.file;
  record.line = launch->where.line;
  record.tasks = launch->tasks;
  record.union_clusters = launch->union_clusters;
  record.programs_per_unit = std::max(1, launch->union_clusters * kMembersPerCluster);
  record.sites = {{nullptr, nullptr, 0}};
  record.costs = {""};
  struct Numbers {
    std::vector<uint32_t> sites;
    std::vector<uint8_t> costs;
  };
  std::map<const Glossary*, Numbers> known;
  std::map<std::tuple<const char*, const char*, int>, uint32_t> sites{{{nullptr, nullptr, 0}, 0}};
  for (UnitResult& result : launch->results) {
    for (size_t i = 0; i < result.programs.size(); ++i) {
      Program& program = result.programs[i];
      const Glossary* const glossary = result.glossaries[i];
      Numbers& numbers = known[glossary];
      numbers.sites.resize(glossary->sites().size(), UINT32_MAX);
      numbers.costs.resize(glossary->costs().size(), UINT8_MAX);
      for (Operation& operation : program.operations) {
        // In the order of their first use, so that the numbers don't depend on threads.
        uint32_t& site = numbers.sites[operation.site];
        if (site == UINT32_MAX) {
          const CallSite& call = glossary->sites()[operation.site];
          const auto [at, fresh] =
              sites.try_emplace({call.name, call.file, call.line}, record.sites.size());
          if (fresh) record.sites.push_back(call);
          site = at->second;
        }
        operation.site = site;
        uint8_t& cost = numbers.costs[operation.cost];
        if (cost == UINT8_MAX) {
          const std::string name = glossary->costs()[operation.cost];
          const auto at = std::find(record.costs.begin(), record.costs.end(), name);
          cost = static_cast<uint8_t>(at - record.costs.begin());
          if (at == record.costs.end()) record.costs.push_back(name);
        }
        operation.cost = cost;
      }
      record.programs.push_back(std::move(program));
    }
  }
  return record;
}

// The tasks of a launch have no order: where they touch the same GDRAM, the launch has failed, or
// is told that they store the same bytes.
void CompareTasks(LaunchState* launch) {
  if (launch->stored == nullptr) return;
  if (launch->notes_left.spent()) {
    fprintf(stderr,
            "%s: warning: the tasks of kernel %s touch GDRAM in too many places to be compared: races "
            "between tasks are not looked for\n",
            At(launch->where).c_str(), launch->kernel.name);
    return;
  }
  // Whether those behind the first that failed have run is a matter of luck.
  const int64_t units = std::min(launch->units - 1, launch->first_failed.load()) + 1;
  std::vector<GdramAccesses*> accesses;
  for (int64_t unit = 0; unit < units; ++unit) {
    accesses.push_back(&launch->results[unit].accesses);
  }
  std::vector<EqualStores> equal;
  const TaskRace race = FindTaskRace(accesses, launch->stored.get(), &equal);
  const auto where = [&](const Races::Site& site) {
    return site.code != nullptr ? ScalarWhere(site.code, launch->kernel) : site.where;
  };
  for (const EqualStores& stores : equal) {
    const std::string text =
        At(where(stores.later_site)) +
        ": warning: tasks store the same bytes to GDRAM, and have no order; it changes nothing, but "
        "only as long as they are the same";
    launch->results[stores.later->task / launch->tasks_per_unit].remarks.push_back({text, 1});
  }
  Allocation allocation;
  if (race.later == nullptr || !launch->device->memory().Find(race.address, &allocation)) return;
  struct Side {
    int task;
    Races::Site site;
    bool stores;
  };
  Side mine{race.later->task, race.later_site, race.later_stores};
  Side other{race.earlier->task, race.earlier_site, race.earlier_stores};
  // As between cores, the line that reads comes first.
  if (mine.stores && !other.stores) std::swap(mine, other);
  const auto what = [](const Side& side) {
    return side.site.name != nullptr ? std::string(side.site.name)
                                     : Format("a scalar %s", side.stores ? "store" : "load");
  };
  const int64_t unit = race.later->task / launch->tasks_per_unit;
  launch->results[unit].failure = Format(
      "%s: error: race: %s of task %d %s byte %lld of allocation %lld (GDRAM), which task %d %s by %s "
      "at %s, and the tasks of a launch have no order\n  in kernel %s (%s:%d), task %d of %d, on %s "
      "(simulated)",
      At(where(mine.site)).c_str(), what(mine).c_str(), mine.task, mine.stores ? "writes" : "reads",
      static_cast<long long>(race.address - allocation.begin),
      static_cast<long long>(allocation.number), other.task, other.stores ? "writes" : "reads",
      what(other).c_str(), At(where(other.site)).c_str(), launch->kernel.name, launch->kernel.file,
      launch->kernel.line, mine.task, static_cast<int>(launch->tasks), launch->card->name.c_str());
  launch->first_failed = unit;
}

void Finish(LaunchState* launch, cnrtQueue_t queue) {
  CompareTasks(launch);
  PrintOutput(*launch);
  const int64_t failed = launch->first_failed.load();
  if (failed < launch->units) {
    fprintf(stderr, "%s\n", launch->results[failed].failure.c_str());
    PrintRemarks(*launch);
    launch->device->SetStickyError(cnrtErrorKernelTrap, launch->results[failed].failure);
    SetLastError(cnrtErrorKernelTrap);
    return;
  }
  const std::string remark = PrintRemarks(*launch);
  if (GetOptions().strict && !remark.empty()) {
    launch->device->SetStickyError(cnrtErrorKernelTrap, remark);
    SetLastError(cnrtErrorKernelTrap);
    return;
  }
  if (!GetOptions().clock) return;
  if (!launch->recording) {
    fprintf(stderr,
            "%s: warning: kernel %s did more than %lld operations, too many for the clock: its "
            "simulated time is missing. BANG_CLOCK=0 saves the memory\n",
            At(launch->where).c_str(), launch->kernel.name,
            static_cast<long long>(kMaxOperations));
    return;
  }
  const LaunchRecord record = CollectPrograms(launch);
  const bool detailed = !GetOptions().timeline.empty();
  const Timeline timeline =
      RunClock(record, *launch->card, detailed ? Detail::kTimeline : Detail::kCounters);
  launch->device->Advance(queue, Engine::kCores, launch->card->Microseconds(timeline.cycles));
  ReportTime(record, timeline, *launch->card);
}

void RunLaunch(LaunchState* launch, const Configuration& asked) {
  CheckDimensions(launch, asked.type);
  CheckArch(*launch);
  if (launch->check) CheckCapacity(*launch);
  if (!RunUnits(launch)) {
    throw Refusal{cnrtErrorSys, At(asked.where) + ": error: the host starts no more threads"};
  }
  Finish(launch, asked.queue);
}

}  // namespace

void Configure(Where where, cnrtDim3_t dim, cnrtFunctionType_t type, cnrtQueue_t queue) {
  configuration = {where, dim, type, queue};
}

void LaunchErased(const KernelRecord& kernel, Module module, const void* body,
                  void (*run_copy)(const void* body)) {
  const Configuration asked = configuration;
  if (current_core != nullptr) {
    current_core->Fail({kernel.file, kernel.line}, "a kernel launches a kernel");
  }
  Device& device = DeviceOf(asked.queue);
  if (device.sticky_error() != cnrtSuccess) {
    SetLastError(device.sticky_error());
    return;
  }
  const LaunchTimer timer;
  // One launch at a time: it uses all threads.
  static std::mutex* const one_at_a_time = new std::mutex;
  std::lock_guard lock(*one_at_a_time);
  const double limit = GetOptions().time_limit;
  auto launch = std::make_unique<LaunchState>();
  launch->kernel = kernel;
  launch->module = module;
  launch->body = body;
  launch->run_copy = run_copy;
  GetCode(reinterpret_cast<const void*>(run_copy), &launch->code_begin, &launch->code_end);
  launch->where = asked.where;
  launch->device = &device;
  launch->card = &device.card();
  launch->dim = asked.dim;
  launch->check = GetOptions().check;
  launch->time_limit = limit;
  launch->deadline = std::chrono::steady_clock::now() +
                     std::chrono::milliseconds(static_cast<int64_t>(limit * 1e3));
  try {
    RunLaunch(launch.get(), asked);
  } catch (const Refusal& refusal) {
    fprintf(stderr, "%s\n", refusal.text.c_str());
    if (refusal.sticky) device.SetStickyError(refusal.error, refusal.text);
    SetLastError(refusal.error);
  } catch (const std::bad_alloc&) {
    fprintf(stderr, "%s: error: the host's memory is used up\n", At(asked.where).c_str());
    SetLastError(cnrtErrorSysNoMem);
  }
}

}  // namespace bang

double bangLaunchSeconds(void) { return bang::launch_seconds; }
