// SPDX-License-Identifier: Apache-2.0
//
// Takes the place of functions of glibc, which it calls in turn under the names that glibc keeps
// for that. It must not allocate, and uses nothing of the C++ library.
#include "faults/faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* memory);
}

namespace {

// Counts events, and says which of them fail.
class Countdown {
 public:
  void Set(long n, bool and_later) {
    n_ = 0;
    events_ = 0;
    failed_ = 0;
    and_later_ = and_later;
    n_ = n;
  }
  // "3" is the third, "3+" that and all later ones.
  void SetFrom(const char* variable, bool and_later) {
    const char* value = getenv(variable);
    if (value == nullptr) return;
    char* end = nullptr;
    const long n = strtol(value, &end, 10);
    Set(n, and_later || *end == '+');
  }
  bool Fails() {
    const long n = n_;
    if (n == 0) return false;
    const long event = ++events_;
    if (event < n || (event > n && !and_later_)) return false;
    ++failed_;
    return true;
  }
  long failed() const { return failed_; }

 private:
  std::atomic<long> n_ = 0, events_ = 0, failed_ = 0;
  std::atomic<bool> and_later_ = false;
};

constinit Countdown allocations, threads, writes;
constinit std::atomic<long> live_allocations = 0;
constinit thread_local bool loading = false;  // a library

// What allocate() returns, unless this allocation is to fail.
template <class Allocate>
void* Allocated(const Allocate& allocate) {
  if (!loading && allocations.Fails()) {
    errno = ENOMEM;
    return nullptr;
  }
  void* const memory = allocate();
  if (memory != nullptr) ++live_allocations;
  return memory;
}

template <class Function>
Function* Next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// To be called before a write. From the write that fails on, the descriptor is that of a full disk,
// so what is buffered for it, and what is written past this library, fails as well.
void BeforeWrite(int fd) {
  if (fd < 0 || fd == STDERR_FILENO || !writes.Fails()) return;
  const int full = open("/dev/full", O_RDWR | O_CLOEXEC);
  if (full < 0) abort();  // nothing would fail
  dup2(full, fd);
  close(full);
}

void ReadVariables() {
  allocations.SetFrom("DETOPS_FAIL_ALLOCATION", false);
  threads.SetFrom("DETOPS_FAIL_THREADS", true);
  writes.SetFrom("DETOPS_FAIL_WRITES", true);
}

using Main = int(int, char**, char**);
Main* program = nullptr;

int MainWithFaults(int count, char** arguments, char** environment) {
  ReadVariables();
  return program(count, arguments, environment);
}

}  // namespace

// The function that this library hides, which has the same name and type.
#define DETOPS_NEXT(function) Next(&(function), #function)

extern "C" {

void detopsFaultsFailAllocation(long n, int and_later) { allocations.Set(n, and_later != 0); }
void detopsFaultsFailThreads(long n) { threads.Set(n, true); }
void detopsFaultsFailWrites(long n) { writes.Set(n, true); }
long detopsFaultsFailedAllocations(void) { return allocations.failed(); }
long detopsFaultsFailedThreads(void) { return threads.failed(); }
long detopsFaultsFailedWrites(void) { return writes.failed(); }
long detopsFaultsLiveAllocations(void) { return live_allocations; }

// Nothing fails before main: no program can catch what happens there.
int __libc_start_main(Main* main, int count, char** arguments, void (*init)(), void (*fini)(),
                      void (*at_exit)(), void* stack) {
  program = main;
  return DETOPS_NEXT(__libc_start_main)(MainWithFaults, count, arguments, init, fini, at_exit,
                                        stack);
}

// While a library is loaded, nothing fails: CUDA's runtime, which is in the plug-in, does not look
// at what malloc returns there.
void* dlopen(const char* file, int mode) {
  const bool nested = loading;
  loading = true;
  void* const library = DETOPS_NEXT(dlopen)(file, mode);
  loading = nested;
  return library;
}

// ---- memory -------------------------------------------------------------------------------------
void* malloc(size_t bytes) {
  return Allocated([&] { return __libc_malloc(bytes); });
}
void* calloc(size_t count, size_t bytes) {
  return Allocated([&] { return __libc_calloc(count, bytes); });
}
void* memalign(size_t alignment, size_t bytes) {
  return Allocated([&] { return __libc_memalign(alignment, bytes); });
}
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  void* const allocated = memalign(alignment, bytes);
  if (allocated == nullptr) return ENOMEM;
  *memory = allocated;
  return 0;
}
void* realloc(void* memory, size_t bytes) {
  if (memory == nullptr) return malloc(bytes);
  if (bytes == 0) {
    free(memory);
    return nullptr;
  }
  if (!loading && allocations.Fails()) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_realloc(memory, bytes);
}
void free(void* memory) {
  if (memory != nullptr) --live_allocations;
  __libc_free(memory);
}

// ---- threads ------------------------------------------------------------------------------------
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  if (threads.Fails()) return EAGAIN;
  return DETOPS_NEXT(pthread_create)(thread, attributes, start, argument);
}

// ---- files --------------------------------------------------------------------------------------
ssize_t write(int fd, const void* data, size_t bytes) {
  BeforeWrite(fd);
  return DETOPS_NEXT(write)(fd, data, bytes);
}
ssize_t writev(int fd, const iovec* parts, int count) {
  BeforeWrite(fd);
  return DETOPS_NEXT(writev)(fd, parts, count);
}
ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t offset) {
  BeforeWrite(fd);
  return DETOPS_NEXT(pwrite64)(fd, data, bytes, offset);
}
// C streams write past the functions above.
size_t fwrite(const void* data, size_t size, size_t count, FILE* stream) {
  BeforeWrite(fileno(stream));
  return DETOPS_NEXT(fwrite)(data, size, count, stream);
}
int fputs(const char* text, FILE* stream) {
  BeforeWrite(fileno(stream));
  return DETOPS_NEXT(fputs)(text, stream);
}
int puts(const char* text) {
  BeforeWrite(STDOUT_FILENO);
  return DETOPS_NEXT(puts)(text);
}
int fflush(FILE* stream) {
  if (stream != nullptr) BeforeWrite(fileno(stream));
  return DETOPS_NEXT(fflush)(stream);
}

}  // extern "C"
