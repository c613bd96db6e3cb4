// SPDX-License-Identifier: Apache-2.0
//
// A card, as cards/NAME.card describes it: sizes, and every cost that the clock assumes. Those
// files say what each value means and how sure it is.
#ifndef BANG_CLOCK_CARD_H_
#define BANG_CLOCK_CARD_H_

#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

namespace bang {

constexpr int kCoresPerCluster = 4;

struct Card {
  std::string name;  // "mlu590"
  int64_t arch;      // 592
  int64_t clusters;
  int64_t nram_bytes, nram_stack_bytes, wram_bytes, sram_bytes;  // NRAM of which the stack's share
  int64_t ldram_bytes;                                           // per core
  int64_t gdram_bytes;
  int64_t clock_khz;

  // The clock's: bytes per second, else bytes, cycles and bytes per cycle.
  int64_t gdram_bandwidth, gdram_cluster_bandwidth, gdram_core_bandwidth;
  int64_t gdram_write_percent, gdram_strided_read_bytes, gdram_strided_write_bytes;
  int64_t gdram_start, gdram_read_latency, gdram_write_latency;
  int64_t sram_cluster_bytes_per_cycle, sram_core_bytes_per_cycle;
  int64_t sram_start, sram_latency, sram_remote_latency;
  int64_t local_bytes_per_cycle, local_start, local_latency;
  int64_t segment_cycles;
  int64_t vector_bytes_per_cycle, vector_start, vector_latency;
  int64_t scalar_operator;
  int64_t scalar_access_nram, scalar_access_wram, scalar_access_sram;
  int64_t scalar_access_ldram, scalar_access_gdram;
  int64_t issue, sync, queue_depth;
  int64_t launch_cycles, task_start, block_tasks_spread;
  int64_t barrier_cluster, barrier_union;
  int64_t host_bandwidth, host_start_ns;  // of the host's copies and memsets
  std::vector<std::pair<std::string, int64_t>> costs;  // cycles per pass of the vector unit

  int64_t cores() const { return clusters * kCoresPerCluster; }
  double Microseconds(int64_t cycles) const {
    return static_cast<double>(cycles) * 1e3 / static_cast<double>(clock_khz);
  }
  const int64_t* FindCost(const std::string& kind) const;  // null: no such row
};

// "mlu370" or "mlu590"; null if there is none of that name. The files are part of the library. The
// card in the file that the environment's BANG_CARD names comes first: it replaces the one of its
// name, or is one more. If that file has an error, stderr says so and there is no card at all.
const Card* GetCard(const std::string& name);

// The card that `text` describes. On failure `error` is "path:line: what is wrong".
bool ParseCard(const std::string& text, const std::string& path, Card* card, std::string* error);

}  // namespace bang

#endif  // BANG_CLOCK_CARD_H_
