// SPDX-License-Identifier: Apache-2.0
#include "machine/host_memory.h"

#include <link.h>
#include <pthread.h>
#include <stdint.h>

namespace bang {

bool IsProgramData(const void* address) {
  struct Search {
    uintptr_t wanted;
    bool found;
  } search{reinterpret_cast<uintptr_t>(address), false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* erased) {
        auto* search = static_cast<Search*>(erased);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          if (part.p_type == PT_LOAD && search->wanted - begin < part.p_memsz) search->found = true;
        }
        return search->found ? 1 : 0;
      },
      &search);
  return search.found;
}

void GetCode(const void* function, const void** begin, const void** end) {
  struct Search {
    uintptr_t wanted, begin, end;
  } search{reinterpret_cast<uintptr_t>(function), 0, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* erased) {
        auto* search = static_cast<Search*>(erased);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
          if (search->wanted - begin >= part.p_memsz) continue;
          search->begin = begin;
          search->end = begin + part.p_memsz;
          return 1;
        }
        return 0;
      },
      &search);
  *begin = reinterpret_cast<const void*>(search.begin);
  *end = reinterpret_cast<const void*>(search.end);
}

void GetStack(const char** begin, const char** end) {
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
  }
  *begin = static_cast<const char*>(low);
  *end = *begin + bytes;
}

}  // namespace bang
