// SPDX-License-Identifier: Apache-2.0
//
// What a core has started and not waited for. Copies happen at their sync, as late as the rules
// allow; compute results are there at once, but count as on their way until a sync. So a sync that
// is missing is seen every time, not only when the timing is unlucky.
#ifndef BANG_MACHINE_IN_FLIGHT_H_
#define BANG_MACHINE_IN_FLIGHT_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "bang/launch.h"
#include "bang/machine.h"
#include "bang/where.h"
#include "clock/operations.h"
#include "machine/region.h"

namespace bang {

struct PendingCopy {
  const char* name;
  Where where;
  Pipe pipe;  // kIo or kMove
  Region dst, src;
  bool performed = false;  // BANG_ASYNC=early: the bytes are there, the rules are the same
  unsigned waited = 0;     // the pipes that were told to wait for it: no others may rely on it
  // The scope of this array ended, which is one side of the copy; null: none did.
  const char* ended = nullptr;
  Space ended_space = Space::kNram;
};

// Who touches memory, and how: for the texts.
struct Access {
  const char* name;     // the built-in; null: scalar code
  const char* operand;  // "src0"; null: scalar code
  Pipe pipe;
  bool writes;
  bool async;
};

class InFlight {
 public:
  bool empty() const { return copies_.empty() && computed_.empty(); }
  bool HasCopies() const { return !copies_.empty(); }
  bool HasCompute() const { return !computed_.empty(); }

  // The text of the error that this access is (what is in flight, from where, and the sync that is
  // missing); empty: none.
  std::string Conflict(const Access& access, const Region& region) const;
  // Whether the access has to wait for compute: the hardware does that for scalar code, and
  // __memcpy does.
  bool TouchesCompute(const Region& region, bool writes) const;

  void AddCopy(const PendingCopy& copy) { copies_.push_back(copy); }
  void AddPerformed(PendingCopy copy) { copy.performed = true, copies_.push_back(copy); }
  // The pipes of `consumers` wait for those of `producers`, and for what these waited for.
  void Wait(unsigned producers, unsigned consumers);
  // Takes out the copies of these pipes, and those that they waited for, in the order of their calls.
  std::vector<PendingCopy> TakeCopies(unsigned pipes);
  // Copies of these pipes, in the order of their calls.
  template <typename Use>
  void ForEach(unsigned pipes, const Use& use) {
    for (PendingCopy& copy : copies_) {
      if (PipeBitOf(copy.pipe) & pipes) use(copy);
    }
  }
  // The pipes whose copies have a side in [data, data + bytes).
  unsigned PipesAt(const void* data, int64_t bytes) const;
  // An array's memory is given back: copies keep their other side.
  void EndScope(const char* name, Space space, const void* data, int64_t bytes);
  // A copy of an array in this space whose scope ended; null: there is none.
  const PendingCopy* Ended(Space space) const;

  void AddCompute(const char* name, Where where, const char* data, int64_t bytes, bool written);
  void DropCompute() { computed_.clear(); }
  static unsigned PipeBitOf(Pipe pipe);
  void DropAll() { copies_.clear(), computed_.clear(); }

 private:
  struct Computed {
    const char* name;
    Where where;
    const char* begin;
    const char* end;
    bool written;
    unsigned waited = 0;
  };
  void Compact();

  std::vector<PendingCopy> copies_;
  std::vector<Computed> computed_;
  size_t compact_at_ = 64;
};

}  // namespace bang

#endif  // BANG_MACHINE_IN_FLIGHT_H_
