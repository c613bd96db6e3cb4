// SPDX-License-Identifier: Apache-2.0
#include "machine/faults.h"

#include <ucontext.h>

#include "machine/running_core.h"

namespace bang {
namespace {

constexpr int kSignals[] = {SIGFPE, SIGSEGV, kTimeSignal};
struct sigaction before[3];

void Handle(int signal, siginfo_t* info, void* context) {
  const auto* const machine = &static_cast<ucontext_t*>(context)->uc_mcontext;
  const auto* const code = reinterpret_cast<const void*>(machine->gregs[REG_RIP]);
  RunningCore* const core = current_core;
  if (core != nullptr) core->HandleFault(signal, info->si_code > 0, info->si_addr, code);
  if (signal == kTimeSignal) return;
  // Not a kernel's: it happens again, without this handler.
  for (int i = 0; i < 3; ++i) {
    if (kSignals[i] == signal) sigaction(signal, &before[i], nullptr);
  }
  if (info->si_code <= 0) raise(signal);
}

}  // namespace

FaultHandlers::FaultHandlers() {
  struct sigaction action = {};
  action.sa_sigaction = Handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  for (int i = 0; i < 3; ++i) sigaction(kSignals[i], &action, &before[i]);
}

FaultHandlers::~FaultHandlers() {
  for (int i = 0; i < 3; ++i) sigaction(kSignals[i], &before[i], nullptr);
}

FaultFrame::FaultFrame() {
  constexpr size_t kBytes = 65536;
  stack_ = std::make_unique<char[]>(kBytes);
  stack_t stack = {};
  stack.ss_sp = stack_.get();
  stack.ss_size = kBytes;
  sigaltstack(&stack, nullptr);
}

}  // namespace bang
