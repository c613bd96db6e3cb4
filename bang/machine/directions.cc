// SPDX-License-Identifier: Apache-2.0
#include "machine/directions.h"

#include <iterator>

namespace bang {
namespace {

constexpr Space N = Space::kNram, W = Space::kWram, S = Space::kSram, L = Space::kLdram,
                G = Space::kGdram;

// In the order of the enum.
constexpr Direction kDirections[] = {
    {"GDRAM2NRAM", G, N, Pipe::kIo},    {"NRAM2GDRAM", N, G, Pipe::kIo},
    {"LDRAM2NRAM", L, N, Pipe::kIo},    {"NRAM2LDRAM", N, L, Pipe::kIo},
    {"GDRAM2WRAM", G, W, Pipe::kIo},    {"WRAM2GDRAM", W, G, Pipe::kIo},
    {"LDRAM2WRAM", L, W, Pipe::kIo},    {"WRAM2LDRAM", W, L, Pipe::kIo},
    {"NRAM2NRAM", N, N, Pipe::kCompute}, {"NRAM2WRAM", N, W, Pipe::kMove},
    {"WRAM2NRAM", W, N, Pipe::kMove},   {"GDRAM2SRAM", G, S, Pipe::kIo},
    {"SRAM2GDRAM", S, G, Pipe::kIo},    {"LDRAM2SRAM", L, S, Pipe::kIo},
    {"SRAM2LDRAM", S, L, Pipe::kIo},    {"SRAM2NRAM", S, N, Pipe::kMove},
    {"NRAM2SRAM", N, S, Pipe::kMove},   {"SRAM2WRAM", S, W, Pipe::kMove},
    {"WRAM2SRAM", W, S, Pipe::kMove},   {"GDRAM2GDRAM", G, G, Pipe::kIo},
    {"GDRAM2LDRAM", G, L, Pipe::kIo},   {"LDRAM2GDRAM", L, G, Pipe::kIo},
    {"LDRAM2LDRAM", L, L, Pipe::kIo},   {"SRAM2SRAM", S, S, Pipe::kMove}};
static_assert(std::size(kDirections) == SRAM2SRAM + 1);

}  // namespace

const Direction* GetDirection(mluMemcpyDirection_t direction) {
  const auto index = static_cast<unsigned>(direction);
  return index < std::size(kDirections) ? &kDirections[index] : nullptr;
}

const char* WhyNot(const Direction& direction, int arch, bool async, bool strided) {
  if (arch != 372) return nullptr;
  if (direction.from == L && direction.to == L) return "mtp_372 has no such copy";
  if (strided && (direction.from == W || (direction.from == L && direction.to == W))) {
    return "mtp_372 has no such copy with strides";
  }
  if (async && (direction.from == L || (direction.from == W && direction.to == G) ||
                (direction.from == N && direction.to == L))) {
    return "mtp_372 has no such asynchronous copy";
  }
  return nullptr;
}

}  // namespace bang
