// SPDX-License-Identifier: Apache-2.0
//
// A core (or an MPU) at work: one thread of the host, one task at a time.
#ifndef BANG_MACHINE_RUNNING_CORE_H_
#define BANG_MACHINE_RUNNING_CORE_H_

#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

#include "bang/task.h"
#include "machine/arrays.h"
#include "machine/failure.h"
#include "machine/faults.h"
#include "machine/in_flight.h"
#include "machine/launch_state.h"
#include "machine/recorder.h"
#include "machine/races.h"
#include "machine/region.h"
#include "machine/sram.h"
#include "machine/task_races.h"

namespace bang {

class UnionTask;

// The line of scalar code; the kernel's where that is not known.
Where ScalarWhere(const void* code, const KernelRecord& kernel);

// Where an operand lies.
struct Place {
  Space space;
  Array* array;  // null: GDRAM, the stack, constants of the program
};

class RunningCore {
 public:
  RunningCore();

  // One task from its start to its end; throws Failure or Abandoned. `unit` is null for BLOCK.
  void Run(LaunchState* launch, int64_t unit_number, UnionTask* unit, int member, const Task& task,
           std::vector<Operation>* operations);

  const Task& task() const { return task_; }
  LaunchState& launch() { return *launch_; }
  UnionTask* unit() { return unit_; }
  int member() const { return member_; }
  bool is_mpu() const { return task_.core_id == kMpuCoreId; }
  bool checks() const { return check_; }
  // Whether compute in flight matters: the checker asks for it, and the clock waits for it.
  bool follows_compute() const { return check_ || recorder_.on(); }
  Arrays& arrays() { return arrays_; }
  InFlight& in_flight() { return in_flight_; }
  Recorder& recorder() { return recorder_; }
  const Glossary* glossary() const { return &glossary_; }
  std::string& output() { return output_; }
  std::vector<Remark>& remarks() { return remarks_; }

  // "core 1 of cluster 0"
  std::string Name() const;
  // Ends the task with "file:line: error: text" and where that was.
  [[noreturn]] void Fail(Where where, const std::string& text);
  // Tells at the end of the launch, once per text. What an MPU does beside its cores is not told.
  void Say(Where where, const std::string& text);

  // Whether that is a variable of a function, which the card keeps in NRAM, too.
  bool IsVariable(const void* data) { return OnStack(data) && arrays_.Find(data) == nullptr; }

  // Where [data, data + bytes of the region) lies; ends the task unless all of it is in `space`,
  // inside one array or allocation.
  Place Locate(const char* name, const char* operand, Where where, const Region& region,
               Space space);
  // The same without an end: false where it does not fit.
  bool Fits(const Region& region, Space space);
  // Ends the task if the access touches what is in flight.
  void CheckInFlight(const Access& access, Where where, const Region& region);
  // Ends the task if the access races with another core's of the union task. `stored`: where
  // the bytes come from, if that is known: storing what is there already is only told.
  void CheckRace(const char* name, Where where, const Region& region, Space space, bool writes,
                 const Region* stored = nullptr);

  // Copies bytes to their place; where other tasks may store to GDRAM, too, that is noted.
  void Move(char* dst, const char* src, int64_t bytes, Space space);
  // Whether CheckRace wants to know of stores to this space.
  bool FollowsStores(Space space) const {
    return unit_ != nullptr || (stored_ != nullptr && space == Space::kGdram);
  }

  // Ends the task if the array that was declared last does not fit beside the others.
  void CheckCapacity(Space space, Where where);
  void* SharedArray(const ArrayRecord& record);
  // The same place in the SRAM of another cluster of the union task; what is no SRAM stays.
  void* InCluster(void* address, int cluster);

  // The copies of these pipes happen now, as at a sync.
  void Complete(unsigned pipes);
  void Perform(const PendingCopy& copy);
  void PerformAll(unsigned pipes);  // but they still count as in flight
  // Waits for compute results, as the hardware does for scalar code.
  void WaitForCompute(Where where);

  void Operators(int64_t count) {
    operators_ += count;
    recorder_.Operators(count);
    if (operators_ >= next_look_) Look();
  }
  // For built-ins: the work of one counts as many operators when it comes to looking at the time.
  void Called() {
    if (store_.bytes != 0) CheckStore();
    if ((++calls_ & 63) == 0) Look();
  }
  void Look();

  // In a signal handler: goes back to Run where the signal is the kernel's. `raised`: by an
  // instruction, which is at `code`.
  void HandleFault(int signal, bool raised, const void* address, const void* code);

  // Scalar code, from the compiler's announcements.
  void ScalarAccess(const char* data, int64_t bytes, bool writes, const void* code);

 private:
  [[noreturn]] void FailByFault(int signal);
  [[noreturn]] void FailByTime(Where where);
  void Tell(Where where, const std::string& text);
  bool OnStack(const void* data) const { return data >= stack_begin_ && data < stack_end_; }
  Sram& OwnSram();
  [[noreturn]] void FailPlace(const char* name, const char* operand, Where where,
                              const Region& region, Space space);
  [[noreturn]] void FailScalar(const Region& region, bool writes, const void* code);
  void SayUnwritten(const Array& array, const char* data, const void* code);
  // Notes an access to GDRAM for the comparison with those of other tasks.
  void Note(const Region& region, bool writes, const Races::Site& site);
  // Ends the task, or tells of a race that is harmless.
  void Report(const char* name, Where where, Space space, bool writes, const Races::Race& race);
  // A scalar store is announced before it happens: whether it changed anything is seen later.
  void CheckStore();
  const Allocation* FindAllocation(const void* data);
  Where ScalarWhere(const void* code) const { return bang::ScalarWhere(code, launch_->kernel); }

  Task task_{};
  LaunchState* launch_ = nullptr;
  int64_t unit_number_ = 0;
  UnionTask* unit_ = nullptr;
  StoredBytes* stored_ = nullptr;  // null: tasks are not compared
  GdramAccesses* accesses_ = nullptr;
  int member_ = 0;
  bool check_ = true;

  Arrays arrays_;
  Sram own_sram_;  // of BLOCK tasks, which share it with nobody
  InFlight in_flight_;
  Glossary glossary_;
  Recorder recorder_{&glossary_};
  std::string output_;
  std::vector<Remark> remarks_;
  std::vector<std::pair<const void*, size_t>> unwritten_reads_;  // code, number of the remark

  // A scalar store that races, unless it stores what was there, or that other tasks' are compared
  // with; no bytes: none.
  struct Store {
    bool raced;
    const char* data;
    int64_t bytes;
    char before[16];
    Space space;
    const void* code;
    Races::Race race;
  };
  Store store_{};
  StoredBytes::Scalar announced_;

  int64_t operators_ = 0;
  int64_t next_look_ = 0;
  uint64_t calls_ = 0;
  uint64_t accesses_of_scalars_ = 0;
  FaultFrame frame_;

  int64_t runs_ = 0;
  const ArrayRecord* last_shared_record_ = nullptr;  // what SharedArray gave, in which run
  int64_t last_shared_run_ = 0;
  void* last_shared_ = nullptr;

  const char* stack_begin_;
  const char* stack_end_;
  Allocation allocation_{};  // the last that FindAllocation found
  uint64_t allocation_generation_ = ~uint64_t{0};
};

// The calling thread's core; null outside kernels.
extern __thread RunningCore* current_core __attribute__((visibility("hidden"), tls_model("initial-exec")));

}  // namespace bang

#endif  // BANG_MACHINE_RUNNING_CORE_H_
