// SPDX-License-Identifier: Apache-2.0
#include "runtime/call_log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "core/checked_size.h"

namespace detops::runtime {
namespace {

namespace fs = std::filesystem;

// Read once. Nothing here throws: a call's own memory may be the last there is.
struct Settings {
  bool log = LogHas("calls");
  const char* folder = nullptr;  // of records
  bool with_data = true;

  Settings() {
    const char* record = std::getenv("DETOPS_RECORD");
    const char* mluop = std::getenv("MLUOP_GEN_CASE_ON");
    if (record != nullptr && *record != '\0') {
      folder = strdup(record);  // the program may change its environment later
    } else if (mluop != nullptr && (*mluop == '1' || *mluop == '2')) {
      folder = "gen_case";
      with_data = *mluop == '2';
    }
  }
};

const Settings& Setting() {
  static const Settings settings;
  return settings;
}

const char* TypeName(mluOpDataType_t dtype) {
  switch (dtype) {
    case MLUOP_DTYPE_HALF: return "half";
    case MLUOP_DTYPE_FLOAT: return "float";
    case MLUOP_DTYPE_INT32: return "int32";
    default: return "other";
  }
}

std::string ShapeText(const mluOpTensorStruct& desc) {
  std::string text = "[";
  for (int i = 0; i < desc.rank; ++i) text += core::Concat(i > 0 ? "," : "", desc.dims[i]);
  return text + "]";
}

// Says it once: a full disk would else fill the screen.
void SayCanNotWrite(const char* file_or_reason) {
  static std::atomic<bool> said = false;
  if (!said.exchange(true)) {
    std::fprintf(stderr, "detops: calls are not recorded: can't write %s\n", file_or_reason);
  }
}

// The files of a record. Each is written beside its place, so that nobody takes a part for the
// whole; all of them take their places in the end, or none is left.
class RecordFiles {
 public:
  RecordFiles() = default;
  ~RecordFiles() {
    for (size_t i = 0; !complete_ && i < files_.size(); ++i) {
      unlink((i < renamed_ ? files_[i].place : files_[i].beside).c_str());
    }
  }
  RecordFiles(const RecordFiles&) = delete;
  RecordFiles& operator=(const RecordFiles&) = delete;

  // write(stream) is what is written into it. False where not all of it could be.
  template <class Write>
  bool Add(std::string place, const Write& write) {
    std::string beside = place + ".part";
    files_.push_back({std::move(place), std::move(beside)});
    std::ofstream out(files_.back().beside, std::ios::binary);
    write(out);
    out.close();
    return static_cast<bool>(out);
  }
  // In the order in which they were added.
  bool TakeTheirPlaces() {
    for (; renamed_ < files_.size(); ++renamed_) {
      const File& file = files_[renamed_];
      if (rename(file.beside.c_str(), file.place.c_str()) != 0) return false;
    }
    complete_ = true;
    return true;
  }
  const std::string& last() const { return files_.back().place; }

 private:
  struct File {
    std::string place, beside;
  };
  std::vector<File> files_;
  size_t renamed_ = 0;
  bool complete_ = false;
};

void WriteData(std::ofstream& out, const TensorArgument& tensor, const mluOpContext& handle) {
  const auto bytes = static_cast<size_t>(tensor.desc->ElementCount()) *
                     static_cast<size_t>(core::DtypeBytes(tensor.desc->dtype));
  std::vector<char> part(std::min(bytes, size_t{1} << 20));
  for (size_t done = 0; out && done < bytes; done += part.size()) {
    const size_t size = std::min(part.size(), bytes - done);
    handle.device->Memcpy(part.data(), static_cast<const char*>(tensor.data) + done, size,
                          cnrtMemcpyDevToHost, handle.queue);
    handle.device->Synchronize(handle.queue);
    out.write(part.data(), static_cast<std::streamsize>(size));
  }
}

}  // namespace

bool LogHas(const char* word) {
  const char* value = std::getenv("DETOPS_LOG");
  std::string_view rest = value != nullptr ? value : "";
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (rest.substr(0, comma) == word) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

CallLog::CallLog(const char* function, const char* op,
                 std::initializer_list<ScalarArgument> scalars,
                 std::initializer_list<TensorArgument> tensors)
    : function_(function), op_(op), scalars_(scalars), tensors_(tensors) {
  if (Setting().log) start_ = Clock::now();
}

std::string CallLog::CaseText(const std::string& stem, bool with_data) const {
  std::string text = core::Concat("op_name: \"", op_, "\"\n");
  for (const TensorArgument& tensor : tensors_) {
    if (tensor.is_output || tensor.desc == nullptr) continue;
    text += core::Concat("input {\n  id: \"", tensor.name, "\"\n  shape {");
    for (int i = 0; i < tensor.desc->rank; ++i) {
      text += core::Concat(" dims: ", tensor.desc->dims[i]);
    }
    text += core::Concat(
        " }\n  dtype: ", tensor.desc->dtype == MLUOP_DTYPE_HALF ? "DTYPE_HALF" : "DTYPE_FLOAT",
        tensor.desc->layout == MLUOP_LAYOUT_NCHW ? "\n  layout: LAYOUT_NCHW" : "", "\n");
    if (with_data) text += core::Concat("  path: \"", stem, "_", tensor.name, ".bin\"\n");
    text += "}\n";
  }
  for (const ScalarArgument& scalar : scalars_) {
    char value[64];
    std::snprintf(value, sizeof(value), "%.17g", scalar.value);
    text += core::Concat("scalar { name: \"", scalar.name, "\" value: ", value, " }\n");
  }
  if (!with_data) text += "scene { }\n";
  return text;
}

void CallLog::Record(const mluOpContext& handle) const noexcept try {
  const Settings& settings = Setting();
  if (settings.folder == nullptr) return;
  static std::atomic<int> count = 0;
  const std::string stem = core::Concat(op_, "_", getpid(), "_", ++count);
  std::error_code error;
  fs::create_directories(settings.folder, error);
  RecordFiles files;
  bool written = true;
  for (const TensorArgument& tensor : tensors_) {
    if (!settings.with_data || tensor.is_output || tensor.desc == nullptr) continue;
    written =
        written && files.Add(core::Concat(settings.folder, "/", stem, "_", tensor.name, ".bin"),
                             [&](std::ofstream& out) { WriteData(out, tensor, handle); });
  }
  // The last one: where it is, all of the record is.
  const std::string text = CaseText(stem, settings.with_data);
  written = written && files.Add(core::Concat(settings.folder, "/", stem, ".prototxt"),
                                 [&](std::ofstream& out) { out << text; });
  if (!written || !files.TakeTheirPlaces()) SayCanNotWrite(files.last().c_str());
} catch (const std::exception& e) {
  SayCanNotWrite(e.what());  // the call itself can go on
}

void CallLog::Finish(mluOpStatus_t status, const mluOpContext* handle) const noexcept try {
  if (!Setting().log) return;
  const auto time = std::chrono::duration<double, std::micro>(Clock::now() - start_).count();
  std::string line = core::Concat("detops: ", function_);
  for (const TensorArgument& tensor : tensors_) {
    line += core::Concat(" ", tensor.name, "=");
    line += tensor.desc == nullptr
                ? "null"
                : core::Concat(ShapeText(*tensor.desc), ":", TypeName(tensor.desc->dtype));
  }
  for (const ScalarArgument& scalar : scalars_) {
    line += core::Concat(" ", scalar.name, "=", scalar.value);
  }
  if (status != MLUOP_STATUS_SUCCESS) {
    line += core::Concat(" refused: ", core::LastError());
  } else {
    const bool ran = handle->last_call_ran;
    line += core::Concat(" device=", handle->device->name(), " implementation=",
                         ran ? handle->last_implementation : "none, there is nothing to do");
    if (ran) line += core::Concat(" workspace=", handle->last_workspace);
    // Other devices may still be at work when the call returns.
    line += core::Concat(handle->device->name() == "cpu" ? " time=" : " queued_in=", time, "us");
  }
  std::fprintf(stderr, "%s\n", line.c_str());
} catch (const std::exception&) {
  // No memory for a line of text: the call itself went well.
}

}  // namespace detops::runtime
