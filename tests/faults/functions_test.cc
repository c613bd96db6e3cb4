// SPDX-License-Identifier: Apache-2.0
//
// The functions that belong to no operator, and what calls log and record, where memory runs out.
#include <fcntl.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "faults/client.h"
#include "faults/in_child.h"

namespace detops::test {
namespace {

struct Function {
  const char* name;
  mluOpStatus_t (*call)();  // leaves nothing behind
};
void PrintTo(const Function& function, std::ostream* out) { *out << function.name; }

mluOpStatus_t StatusOf(cnrtRet_t returned) {
  if (returned == cnrtErrorNoMem) return MLUOP_STATUS_ALLOC_FAILED;
  return returned == cnrtSuccess ? MLUOP_STATUS_SUCCESS : MLUOP_STATUS_BAD_PARAM;
}

constexpr std::array kFunctions = {
    Function{"ListDevices",
             [] {
               std::array<detopsDeviceInfo, 64> devices;
               size_t count = 0;
               return detopsListDevices(devices.data(), devices.size(), &count);
             }},
    Function{"ListImplementations",
             [] {
               std::array<detopsImplementationInfo, 256> implementations;
               size_t count = 0;
               return detopsListImplementations(implementations.data(), implementations.size(),
                                                &count);
             }},
    Function{"SetDevice", [] { return detopsSetDevice("cpu"); }},
    Function{"SetDeviceThatIsNone", [] { return detopsSetDevice("abacus"); }},
    Function{"CreateHandle",
             [] {
               mluOpHandle_t handle = nullptr;
               const mluOpStatus_t status = mluOpCreate(&handle);
               if (handle != nullptr) mluOpDestroy(handle);
               return status;
             }},
    Function{"CreateGroupOfDescriptors",
             [] {
               std::array<mluOpTensorDescriptor_t, 3> descs = {};
               mluOpTensorDescriptor_t* group[] = {&descs[0], &descs[1], &descs[2]};
               const mluOpStatus_t status = mluOpCreateGroupTensorDescriptors(group, 3);
               if (status == MLUOP_STATUS_SUCCESS) mluOpDestroyGroupTensorDescriptors(group, 3);
               return status;
             }},
    Function{"Malloc",
             [] {
               void* memory = nullptr;
               const cnrtRet_t returned = cnrtMalloc(&memory, 1 << 10);
               if (returned == cnrtSuccess) cnrtFree(memory);
               return StatusOf(returned);
             }},
    Function{"CreateQueue",
             [] {
               cnrtQueue_t queue = nullptr;
               const cnrtRet_t returned = cnrtQueueCreate(&queue);
               if (returned == cnrtSuccess) cnrtQueueDestroy(queue);
               return StatusOf(returned);
             }},
    Function{"QueueFromStreamOfTheProcessor",
             [] {
               cnrtQueue_t queue = nullptr;
               return detopsQueueFromStream(&queue, "cpu", nullptr);
             }},
};

class FunctionFaults : public ::testing::TestWithParam<Function> {};

TEST_P(FunctionFaults, AFailedAllocationIsAStatusAndTheNextCallWorks) {
  const auto call = GetParam().call;
  const std::string expected = InChild([&] { return std::string(mluOpGetErrorString(call())); });
  FailEachAllocation([&](long n) -> std::string {
    bool reached = false;
    for (const bool first : {true, false}) {
      const long live = detopsFaultsLiveAllocations();
      detopsFaultsFailAllocation(n, first);
      const mluOpStatus_t status = call();
      reached = reached || detopsFaultsFailedAllocations() > 0;
      detopsFaultsFailAllocation(0, 0);
      if (!first && detopsFaultsLiveAllocations() != live) return "memory is leaked";
      if (status != MLUOP_STATUS_ALLOC_FAILED && mluOpGetErrorString(status) != expected) {
        return std::string("the status is ") + mluOpGetErrorString(status);
      }
      if (mluOpGetErrorString(call()) != expected) return "the next call fails";
      mluOpDestroy(nullptr);  // from the first refusal on, a thread keeps room for its error text
    }
    return reached ? "" : kDone;
  });
}

INSTANTIATE_TEST_SUITE_P(, FunctionFaults, ::testing::ValuesIn(kFunctions),
                         [](const auto& tested) { return std::string(tested.param.name); });

// What is only said of a call may get lost, but not the call.
TEST(LogFaults, LeaveTheCallAlone) {
  const schema::Problem problem = StandardProblem(*schema::All().front());
  const std::string expected = InChild([&] {
    Client client(problem, 1);
    client.Run("cpu:reference");
    return client.Answer();
  });
  const auto folder = std::filesystem::temp_directory_path() / "detops_faults_records";
  FailEachAllocation([&](long n) -> std::string {
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    setenv("DETOPS_LOG", "calls,dispatch", 1);
    setenv("DETOPS_RECORD", folder.c_str(), 1);
    Client client(problem, 1);
    detopsFaultsFailAllocation(n, 0);
    const mluOpStatus_t status = client.Run();
    const bool reached = detopsFaultsFailedAllocations() > 0;
    detopsFaultsFailAllocation(0, 0);
    std::filesystem::remove_all(folder);
    if (status != MLUOP_STATUS_SUCCESS && status != MLUOP_STATUS_ALLOC_FAILED) return "no status";
    if (client.called() && client.Answer() != expected) return "the results are wrong";
    if (!client.called() && !client.OutputsUntouched()) return "outputs were written";
    if (client.Run() != MLUOP_STATUS_SUCCESS) return "the next call fails";
    std::filesystem::remove_all(folder);
    return reached ? "" : kDone;
  });
}

// Where the disk is full the call goes on, and no part of a record is left.
TEST(RecordFaults, AFullDiskLeavesTheCallAloneAndNoPartOfARecord) {
  namespace fs = std::filesystem;
  const auto folder = fs::temp_directory_path() / ("detops_records_" + std::to_string(getpid()));
  const auto said = folder.string() + ".stderr";
  const auto files_in_folder = [&] {
    return fs::exists(folder) ? std::distance(fs::directory_iterator(folder), {}) : 0;
  };
  for (const schema::Schema* schema : schema::All()) {
    SCOPED_TRACE(schema->name);
    const schema::Problem problem = StandardProblem(*schema);
    const auto whole_record = static_cast<std::ptrdiff_t>(problem.inputs.size()) + 1;
    const std::string expected = InChild([&] {
      Client client(problem, 1);
      client.Run();
      return client.Answer();
    });
    const auto attempt = [&](long n) -> std::string {
      dup2(open(said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
      setenv("DETOPS_RECORD", folder.c_str(), 1);
      Client client(problem, 1);
      for (const bool disk_is_full : {true, false}) {
        detopsFaultsFailWrites(disk_is_full ? n : 0);
        const mluOpStatus_t status = client.Run();
        const bool failed = detopsFaultsFailedWrites() > 0;
        detopsFaultsFailWrites(0);
        if (status != MLUOP_STATUS_SUCCESS) return detopsGetLastErrorMessage();
        if (client.Answer() != expected) return "the results are wrong";
        const auto files = files_in_folder();
        if (disk_is_full && !failed) return files == whole_record ? kDone : "files are missing";
        if (files != (disk_is_full ? 0 : whole_record)) return std::to_string(files) + " files";
      }
      std::ifstream lines(said);
      std::string line, more;
      std::getline(lines, line);
      if (line.find("calls are not recorded: can't write " + folder.string()) == line.npos ||
          std::getline(lines, more)) {
        return "it says: " + line + more;
      }
      return "";
    };
    long n = 1;
    for (std::string wrong; n < 1000; ++n) {
      wrong = InChild([&] { return attempt(n); });
      fs::remove_all(folder);
      if (wrong == kDone) break;
      ASSERT_EQ(wrong, "") << "where write " << n << " fails";
    }
    EXPECT_GT(n, whole_record);  // each file has failed
  }
  fs::remove(said);
}

}  // namespace
}  // namespace detops::test
