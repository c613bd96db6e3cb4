// SPDX-License-Identifier: Apache-2.0
//
// Devices and implementations as the library lists them, and a problem on one of them. A new
// backend needs nothing here: what the library names is used.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "files/array.h"
#include "schema/invocation.h"

namespace detops::cli {

// The library said no. `refused` where it can't on this machine or for this case; else the call was
// wrong, or failed.
class RunError : public std::runtime_error {
 public:
  RunError(mluOpStatus_t status, const std::string& text)
      : std::runtime_error(text), status_(status) {}
  bool refused() const {
    return status_ == MLUOP_STATUS_NOT_SUPPORTED || status_ == MLUOP_STATUS_ARCH_MISMATCH;
  }
  mluOpStatus_t status() const { return status_; }

 private:
  mluOpStatus_t status_;
};

struct DeviceInfo {
  std::string name, description, reason;
  bool usable;
  bool simulated;  // its times are those of a model
};
std::vector<DeviceInfo> Devices();
bool IsSimulated(const std::string& device);
// "cuda" of "cuda:0" and "cuda:simt", "mlu" of "mlu590".
std::string BackendOf(const std::string& device_or_implementation);

// Whether a name like "cuda:0" means this device. "cuda" means all of that backend, "" all.
bool IsMeant(const DeviceInfo& device, const std::string& name);

// Where and by what a problem can run.
struct Target {
  std::string device, implementation;  // implementation "": the library's choice
  bool simulated = false;              // the device is
};
// "cuda:simt"; on any but the first of equal devices "cuda:simt on cuda:1", "mlu:bang on mlu590".
std::string NameOf(const Target& target);
// Throws UserError for a name that the library does not list, and for a device or an implementation
// that can't be used; empty ones are fine.
void RequireKnown(const std::string& device, const std::string& implementation);
// Of the commands that run on one device: the option's, else DETOPS_DEVICE's, else "". Throws
// UserError where it is not known.
std::string ChosenDevice(const std::string& option);
// Every usable implementation of the operator on every usable device of its backend, the preferred
// first. Empty strings don't filter.
std::vector<Target> TargetsOf(const schema::Schema& op, const std::string& device,
                              const std::string& implementation);
struct ImplementationInfo {
  std::string op, name, reason;
  bool usable;
};
std::vector<ImplementationInfo> Implementations();
// Devices and implementations that this machine can't run, among those that the names (or empty
// strings) mean. Each is here once, and an implementation only where its device could run it.
struct Unusable {
  std::string name, reason;
};
std::vector<Unusable> UnusableAmong(const std::string& device, const std::string& implementation);
bool IsReference(const std::string& implementation);

// Sets of inputs and outputs to be used in turn; each is a copy of the same data.
class Execution {
 public:
  // Throws RunError with the library's text. threads 0: the default.
  Execution(const schema::Problem& problem, const Target& target, int threads = 0,
            int64_t sets = 1);

  // Puts a call on the queue; waits for nothing.
  void Start();
  void Wait();
  void SetThreads(int threads);
  // Of the first set, as long as the run made them. What a call leaves unwritten is poison before.
  std::vector<Array> Results();

  std::string implementation() const { return detopsGetLastImplementation(handle_); }
  int64_t pairs() const { return detopsGetLastPairCount(handle_); }
  int64_t candidates() const { return detopsGetLastCandidateCount(handle_); }
  size_t workspace_bytes() const { return invocation_->workspace_bytes(); }
  mluOpHandle_t handle() const { return handle_; }

 private:
  const schema::Problem& problem_;
  const std::string device_;
  schema::Handle handle_;
  std::optional<schema::Invocation> invocation_;
};

}  // namespace detops::cli
