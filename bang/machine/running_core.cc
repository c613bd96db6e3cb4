// SPDX-License-Identifier: Apache-2.0
#include "machine/running_core.h"

#include <string.h>

#include <algorithm>
#include <exception>

#include "machine/host_memory.h"
#include "machine/options.h"
#include "machine/union_task.h"
#include "machine/workers.h"

namespace bang {

__thread RunningCore* current_core = nullptr;

const Task& CurrentTask() {
  static const Task none{};
  return current_core != nullptr ? current_core->task() : none;
}

RunningCore::RunningCore() { GetStack(&stack_begin_, &stack_end_); }

void RunningCore::Run(LaunchState* launch, int64_t unit_number, UnionTask* unit, int member,
               const Task& task, std::vector<Operation>* operations) {
  task_ = task;
  launch_ = launch;
  unit_number_ = unit_number;
  unit_ = unit;
  member_ = member;
  check_ = launch->check;
  stored_ = launch->stored.get();
  accesses_ = &launch->results[unit_number].accesses;
  accesses_->Limit(&launch->notes_left);
  next_look_ = operators_;
  store_.bytes = 0;
  ++runs_;
  recorder_.Start(operations);
  output_.clear();
  remarks_.clear();
  unwritten_reads_.clear();
  if (unit == nullptr) own_sram_.Clear();
  arrays_.Enter(launch->kernel, launch->module);
  std::vector<Arrays::Shared> shared{OwnSram().arrays()};
  for (int i = 0; unit != nullptr && i < unit->clusters(); ++i) {
    if (i != UnionTask::Cluster(member)) shared.push_back(unit->sram(i).arrays());
  }
  arrays_.SetShared(std::move(shared));

  // Whatever way the task ends, the next begins with nothing in flight.
  struct End {
    RunningCore* core;
    ~End() {
      core->frame_.Disarm();
      if (core->announced_.pending()) core->stored_->Finish(&core->announced_);
      core->in_flight_.DropAll();
      core->arrays_.Leave();
      current_core = nullptr;
    }
  } end{this};
  current_core = this;
  const int fault = frame_.Run([launch] { launch->run_copy(launch->body); });
  if (fault != 0) FailByFault(fault);
  if (store_.bytes != 0) CheckStore();
  Complete(kIoBit | kMoveBit);
  recorder_.Flush();
}

std::string RunningCore::Name() const {
  if (unit_ == nullptr) return "the core";
  if (is_mpu()) return Format("the MPU of cluster %d", task_.cluster_id);
  return Format("core %d of cluster %d", task_.core_id, task_.cluster_id);
}

void RunningCore::Fail(Where where, const std::string& text) {
  const KernelRecord& kernel = launch_->kernel;
  std::string place = unit_ == nullptr ? "" : ", " + Name();
  throw Failure{Format("%s: error: %s\n  in kernel %s (%s:%d), task %d of %d%s, on %s (simulated)",
                       At(where).c_str(), text.c_str(), kernel.name, kernel.file, kernel.line,
                       task_.id, task_.dim, place.c_str(), launch_->card->name.c_str())};
}

void RunningCore::Say(Where where, const std::string& text) {
  if (!is_mpu()) Tell(where, text);
}

void RunningCore::Tell(Where where, const std::string& text) {
  const std::string whole = At(where) + ": warning: " + text;
  for (Remark& remark : remarks_) {
    if (remark.text == whole) {
      ++remark.times;
      return;
    }
  }
  constexpr size_t kEnough = 100;
  if (remarks_.size() < kEnough) remarks_.push_back({whole, 1});
}

const Allocation* RunningCore::FindAllocation(const void* data) {
  DeviceMemory& memory = launch_->device->memory();
  const uint64_t generation = memory.generation();
  const char* const byte = static_cast<const char*>(data);
  if (generation == allocation_generation_ && byte >= allocation_.begin &&
      byte < allocation_.begin + allocation_.bytes) {
    return &allocation_;
  }
  Allocation found;
  if (!memory.Find(data, &found)) return nullptr;
  allocation_ = found;
  allocation_generation_ = generation;
  return &allocation_;
}

bool RunningCore::Fits(const Region& region, Space space) {
  const Array* array = arrays_.Find(region.begin);
  if (array != nullptr) return array->space() == space && region.end() <= array->end();
  if (space == Space::kGdram) {
    const Allocation* allocation = FindAllocation(region.begin);
    if (allocation != nullptr) return region.end() <= allocation->begin + allocation->bytes;
    return IsProgramData(region.begin) && IsProgramData(region.end() - 1);
  }
  return space == Space::kLdram && OnStack(region.begin);
}

Place RunningCore::Locate(const char* name, const char* operand, Where where, const Region& region,
                   Space space) {
  if (!Fits(region, space)) FailPlace(name, operand, where, region, space);
  return {space, arrays_.Find(region.begin)};
}

void RunningCore::FailPlace(const char* name, const char* operand, Where where, const Region& region,
                     Space space) {
  const int64_t bytes = region.end() - region.begin;
  const char* const wanted = SpaceName(space);
  const std::string what = Format("%s: %s (%lld bytes)", name, operand,
                                  static_cast<long long>(bytes));
  if (const Array* array = arrays_.Find(region.begin)) {
    const std::string of = Format("%s (%s, %lld bytes, %s)", array->name(),
                                  SpaceName(array->space()),
                                  static_cast<long long>(array->bytes()),
                                  At(array->where()).c_str());
    if (array->space() != space) {
      Fail(where, Format("%s has to be in %s, but lies in %s", what.c_str(), wanted, of.c_str()));
    }
    Fail(where, Format("%s begins at byte %lld of %s and ends %lld bytes beyond it", what.c_str(),
                       static_cast<long long>(region.begin - array->begin()), of.c_str(),
                       static_cast<long long>(region.end() - array->end())));
  }
  if (const Allocation* allocation = FindAllocation(region.begin)) {
    const std::string of = Format("allocation %lld of cnrtMalloc (%lld bytes)",
                                  static_cast<long long>(allocation->number),
                                  static_cast<long long>(allocation->bytes));
    if (space != Space::kGdram) {
      Fail(where, Format("%s has to be in %s, but lies in GDRAM, in %s", what.c_str(), wanted,
                         of.c_str()));
    }
    Fail(where, Format("%s begins at byte %lld of %s and ends %lld bytes beyond it", what.c_str(),
                       static_cast<long long>(region.begin - allocation->begin), of.c_str(),
                       static_cast<long long>(region.end() - allocation->begin -
                                              allocation->bytes)));
  }
  if (region.begin == nullptr) Fail(where, what + " is a null pointer");
  if (OnStack(region.begin)) {
    Fail(where, Format("%s has to be in %s, but is a variable of the function", what.c_str(),
                       wanted));
  }
  std::string text = Format("%s has to be in %s, but lies in none of its %s", what.c_str(), wanted,
                            space == Space::kGdram ? "allocations" : "arrays");
  if (space == Space::kGdram) {
    Allocation below;
    const char* probe = region.begin;
    // Just behind an allocation is where overruns are.
    for (int64_t back = 1; back <= 65536; back *= 2) {
      if (!launch_->device->memory().Find(probe - back, &below)) continue;
      text += Format(": it begins %lld bytes beyond allocation %lld (%lld bytes)",
                     static_cast<long long>(probe - below.begin - below.bytes),
                     static_cast<long long>(below.number), static_cast<long long>(below.bytes));
      break;
    }
  } else if (const Array* below = arrays_.Below(region.begin)) {
    text += Format(": it begins %lld bytes beyond %s (%s)",
                   static_cast<long long>(region.begin - below->end()), below->name(),
                   At(below->where()).c_str());
  }
  Fail(where, text);
}

void RunningCore::CheckInFlight(const Access& access, Where where, const Region& region) {
  if (in_flight_.empty()) return;
  const std::string conflict = in_flight_.Conflict(access, region);
  if (conflict.empty()) return;
  const Array* array = arrays_.Find(region.begin);
  const std::string in = array != nullptr ? std::string("in ") + array->name() : "in GDRAM";
  if (access.name == nullptr) {
    Fail(where, Format("a scalar %s %s %s", access.writes ? "store" : "load", in.c_str(),
                       conflict.c_str()));
  }
  Fail(where, Format("%s: %s (%s) %s", access.name, access.operand, in.c_str(), conflict.c_str()));
}

void RunningCore::CheckRace(const char* name, Where where, const Region& region, Space space,
                            bool writes, const Region* stored) {
  const Races::Site site{name, where, nullptr};
  if (stored_ != nullptr && space == Space::kGdram) Note(region, writes, site);
  if (unit_ == nullptr || (space != Space::kSram && space != Space::kGdram)) return;
  Races::Race race;
  const bool whole = !region.scattered() && (stored == nullptr || !stored->scattered());
  const int64_t pieces = whole ? 1 : region.segments();
  const int64_t bytes = whole ? region.total() : region.bytes;
  for (int64_t i = 0; i < pieces; ++i) {
    const char* const from = stored != nullptr ? stored->segment(i) : nullptr;
    if (unit_->races().Access(member_, region.segment(i), bytes, writes, from, site, &race)) {
      Report(name, where, space, writes, race);
    }
  }
}

void RunningCore::Note(const Region& region, bool writes, const Races::Site& site) {
  if (OnStack(region.begin) || launch_->notes_left.spent()) return;
  const bool whole = !region.scattered();
  const int64_t pieces = whole ? 1 : region.segments();
  const int64_t bytes = whole ? region.total() : region.bytes;
  for (int64_t i = 0; i < pieces; ++i) {
    if (writes) {
      accesses_->Store(task_.id, region.segment(i), bytes, site);
    } else {
      accesses_->Load(task_.id, region.segment(i), bytes, site);
    }
  }
}

void RunningCore::Move(char* dst, const char* src, int64_t bytes, Space space) {
  if (stored_ != nullptr && space == Space::kGdram && !OnStack(dst)) {
    stored_->Store(dst, src, bytes);
  } else {
    memmove(dst, src, bytes);
  }
}

void RunningCore::Report(const char* name, Where where, Space space, bool writes,
                         const Races::Race& race) {
  const char* const address = race.address;
  if (race.harmless) {
    // The scalar code of a kernel that an MPU does not leave is its cores', too.
    if (is_mpu() && name == nullptr) return;
    // One text per line of the source, whichever the cores and the bytes are.
    Tell(where, Format("cores store the same bytes to %s without a barrier in between; it changes "
                      "nothing, but only as long as they are the same",
                      SpaceName(space)));
    return;
  }
  struct Side {
    std::string who, what;
    Where where;
    bool writes;
  };
  const auto what = [](const char* built_in, bool stores) {
    return built_in != nullptr ? std::string(built_in)
                               : Format("a scalar %s", stores ? "store" : "load");
  };
  Side mine{Name(), what(name, writes), where, writes};
  const int cluster = UnionTask::Cluster(race.other);
  Side other{UnionTask::IsMpu(race.other)
                 ? Format("the MPU of cluster %d", cluster)
                 : Format("core %d of cluster %d", race.other % kMembersPerCluster, cluster),
             what(race.site.name, race.other_writes),
             race.site.code != nullptr ? ScalarWhere(race.site.code) : race.site.where,
             race.other_writes};
  // The line that reads is the one where a barrier is missing before.
  if (mine.writes && !other.writes) std::swap(mine, other);
  const Array* array = arrays_.Find(address);
  std::string place;
  if (array != nullptr) {
    place = Format("byte %lld of %s (%s)", static_cast<long long>(address - array->begin()),
                   array->name(), SpaceName(space));
  } else if (const Allocation* allocation = FindAllocation(address)) {
    place = Format("byte %lld of allocation %lld (GDRAM)",
                   static_cast<long long>(address - allocation->begin),
                   static_cast<long long>(allocation->number));
  }
  const std::string text = Format(
      "race: %s of %s %s %s, which %s %s by %s at %s without a barrier in between", mine.what.c_str(),
      mine.who.c_str(), mine.writes ? "writes" : "reads", place.c_str(), other.who.c_str(),
      other.writes ? "writes" : "reads", other.what.c_str(), At(other.where).c_str());
  Fail(mine.where, text);
}

void RunningCore::CheckStore() {
  const Store store = store_;
  store_.bytes = 0;
  if (announced_.pending()) stored_->Finish(&announced_);
  if (!store.raced) return;
  if (memcmp(store.data, store.before, store.bytes) != 0) {
    Report(nullptr, ScalarWhere(store.code), store.space, true, store.race);
  }
  Races::Race race;
  if (unit_->races().Access(member_, store.data, store.bytes, true, store.data,
                            {nullptr, {}, store.code}, &race)) {
    Report(nullptr, ScalarWhere(store.code), store.space, true, race);
  }
}

void RunningCore::PerformAll(unsigned pipes) {
  in_flight_.ForEach(pipes, [&](PendingCopy& copy) {
    if (copy.performed) return;
    copy.performed = true;
    Perform(copy);
  });
}

void RunningCore::Complete(unsigned pipes) {
  if (in_flight_.empty()) return;
  for (const PendingCopy& copy : in_flight_.TakeCopies(pipes)) {
    if (!copy.performed) Perform(copy);
  }
}

void RunningCore::WaitForCompute(Where where) {
  if (!in_flight_.HasCompute()) return;
  in_flight_.DropCompute();
  Operation operation{.kind = Kind::kWait, .pipes = PipeBit(Pipe::kCompute)};
  operation.site = recorder_.on() ? glossary_.Site(nullptr, where) : 0;
  recorder_.Add(operation);
}

void RunningCore::Look() {
  constexpr int64_t kOperatorsBetweenLooks = 1 << 18;
  next_look_ = operators_ + kOperatorsBetweenLooks;
  if (store_.bytes != 0) CheckStore();
  if (unit_ != nullptr && unit_->abandoned()) throw Abandoned();
  if (launch_->first_failed.load(std::memory_order_relaxed) < unit_number_) throw Abandoned();
  if (launch_->time_limit > 0 && std::chrono::steady_clock::now() > launch_->deadline) {
    FailByTime({launch_->kernel.file, launch_->kernel.line});
  }
}

void RunningCore::FailByTime(Where where) {
  Fail(where, Format("the kernel has not ended after %g seconds; is a loop endless? "
                     "BANG_TIME_LIMIT=seconds sets another limit, 0 none",
                     launch_->time_limit));
}

void RunningCore::HandleFault(int signal, bool raised, const void* address, const void* code) {
  if (!frame_.armed()) return;
  if (signal == kTimeSignal) {
    // Only a loop of the kernel itself is left like that; the rest looks at the time.
    if (launch_->code_begin <= code && code < launch_->code_end && std::uncaught_exceptions() == 0)
      frame_.Leave(signal, code);
    return;
  }
  if (!raised) return;
  const auto* const byte = static_cast<const char*>(address);
  const bool beyond_stack =
      byte >= stack_begin_ - kStackGuardBytes && byte < stack_begin_ + kStackGuardBytes;
  if (signal == SIGFPE || beyond_stack) frame_.Leave(signal, code);
}

void RunningCore::FailByFault(int signal) {
  if (signal == SIGSEGV) {  // a recursion has many lines
    Fail({launch_->kernel.file, launch_->kernel.line},
         Format("the stack of %lld MB is used up; is a recursion endless?",
                static_cast<long long>((stack_end_ - stack_begin_) >> 20)));
  }
  // ScalarWhere wants what is behind the instruction.
  const Where where = ScalarWhere(static_cast<const char*>(frame_.code()) + 1);
  if (signal == kTimeSignal) FailByTime(where);
  Fail(where, "division of an integer by 0, or of the smallest one by -1");
}

void Tick(int64_t operators) {
  if (current_core != nullptr) current_core->Operators(operators);
}

void SetValues(void* array, const void* values, int64_t bytes) {
  memcpy(array, values, bytes);
  if (current_core == nullptr) return;
  if (Array* known = current_core->arrays().Find(array)) known->MarkWritten(array, bytes);
}

LocalArray::LocalArray(const char* name, Space space, void* data, int64_t bytes, Where where) {
  RunningCore& core = *current_core;
  // What a scope gave back, the next array takes.
  if (const PendingCopy* copy = core.in_flight().Ended(space)) {
    core.Fail(copy->where,
              Format("%s: %s is still in flight when its scope ends, and %s (%s) may take its place; "
                     "put __sync_%s() (or __sync()) before the end of the scope",
                     copy->name, copy->ended, name, At(where).c_str(),
                     copy->pipe == Pipe::kIo ? "io" : "move"));
  }
  core.arrays().PushLocal(name, space, data, bytes, where);
  core.CheckCapacity(space, where);
}

LocalArray::~LocalArray() noexcept(false) {
  RunningCore& core = *current_core;
  const Array& array = core.arrays().top_local();
  const bool unwinding = std::uncaught_exceptions() > 0;
  // The next array may lie at the same place: a sync has to come before it does.
  const unsigned pipes =
      unwinding ? 0 : core.in_flight().PipesAt(array.begin(), array.bytes());
  struct Pop {
    RunningCore& core;
    ~Pop() { core.arrays().PopLocal(); }
  } pop{core};
  if (pipes == 0) return;
  core.PerformAll(pipes);
  core.in_flight().EndScope(array.name(), array.space(), array.begin(), array.bytes());
}

void RunningCore::CheckCapacity(Space space, Where where) {
  const Card& card = *launch_->card;
  const int64_t capacity = space == Space::kNram   ? card.nram_bytes - card.nram_stack_bytes
                           : space == Space::kWram ? card.wram_bytes
                                                   : card.ldram_bytes;
  const int64_t used = arrays_.Used(space);
  if (used <= capacity || !check_) return;
  const Array& array = arrays_.top_local();
  Fail(where, Format("%s (%lld bytes) does not fit: the arrays in use would take %lld bytes of %s, "
                     "and a core of %s has %lld",
                     array.name(), static_cast<long long>(array.bytes()),
                     static_cast<long long>(used), SpaceName(space), card.name.c_str(),
                     static_cast<long long>(capacity)));
}

void* SharedMemory(const ArrayRecord& record) {
  RunningCore* core = current_core;
  return core == nullptr ? nullptr : core->SharedArray(record);
}

Sram& RunningCore::OwnSram() {
  return unit_ != nullptr ? unit_->sram(UnionTask::Cluster(member_)) : own_sram_;
}

void* RunningCore::InCluster(void* address, int cluster) {
  if (unit_ == nullptr || cluster == UnionTask::Cluster(member_)) return address;
  const ArrayRecord* const record = OwnSram().Find(address);
  if (record == nullptr) return address;
  char* const there = unit_->sram(cluster).Get(*record).begin();
  return there + (static_cast<char*>(address) - OwnSram().Get(*record).begin());
}

void* RunningCore::SharedArray(const ArrayRecord& record) {
  if (last_shared_record_ == &record && last_shared_run_ == runs_) return last_shared_;
  Sram& sram = OwnSram();
  const int64_t used = sram.UsedWith(record);
  if (check_ && used > launch_->card->sram_bytes) {
    Fail({record.file, record.line},
         Format("%s (%lld bytes) does not fit: the arrays in use would take %lld bytes of SRAM, and "
                "a cluster of %s has %lld",
                record.name, static_cast<long long>(record.bytes), static_cast<long long>(used),
                launch_->card->name.c_str(), static_cast<long long>(launch_->card->sram_bytes)));
  }
  last_shared_ = sram.Get(record).begin();
  last_shared_record_ = &record;
  last_shared_run_ = runs_;
  return last_shared_;
}

}  // namespace bang
