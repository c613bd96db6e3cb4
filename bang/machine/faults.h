// SPDX-License-Identifier: Apache-2.0
//
// Signals that a kernel's scalar code raises, an integer division by 0 or a stack that is used up,
// and the one that ends a loop which calls nothing: they stop the kernel as any broken rule does.
#ifndef BANG_MACHINE_FAULTS_H_
#define BANG_MACHINE_FAULTS_H_

#include <setjmp.h>
#include <signal.h>

#include <memory>

namespace bang {

// Of the machine's own threads, and ignored unless somebody asks for it.
constexpr int kTimeSignal = SIGURG;

// Handles the signals as long as it lives, which is for a launch; then they are the program's again.
class FaultHandlers {
 public:
  FaultHandlers();
  ~FaultHandlers();
  FaultHandlers(const FaultHandlers&) = delete;
  FaultHandlers& operator=(const FaultHandlers&) = delete;
};

// Where a thread goes on after a fault.
class FaultFrame {
 public:
  FaultFrame();  // for the calling thread

  // Runs code(); returns the signal that ended it, or 0.
  template <typename Code>
  int Run(const Code& code) {
    if (const int signal = sigsetjmp(back_, 0)) return signal;
    armed_ = true;
    code();
    armed_ = false;
    return 0;
  }
  void Disarm() { armed_ = false; }
  bool armed() const { return armed_; }
  const void* code() const { return code_; }  // of the instruction that raised it
  [[noreturn]] void Leave(int signal, const void* code) {
    armed_ = false;
    code_ = code;
    siglongjmp(back_, signal);
  }

 private:
  sigjmp_buf back_;
  volatile bool armed_ = false;
  const void* code_ = nullptr;
  std::unique_ptr<char[]> stack_;  // handlers run here: a kernel's own may be used up
};

}  // namespace bang

#endif  // BANG_MACHINE_FAULTS_H_
