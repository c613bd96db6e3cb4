// SPDX-License-Identifier: Apache-2.0
#include "timeline/write_timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

namespace bang {
namespace {

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool WriteFile(const std::string& path, const std::string& text) {
  FILE* file = fopen(path.c_str(), "wb");
  if (!file) return false;
  const bool written = fwrite(text.data(), 1, text.size(), file) == text.size();
  return fclose(file) == 0 && written;
}

}  // namespace

bool WriteTimeline(const std::string& path, const std::vector<DrawnLaunch>& launches,
                   std::string* error) {
  const bool page = EndsWith(path, ".html") || EndsWith(path, ".htm");
  if (!page && !EndsWith(path, ".json")) {
    *error = path + ": a timeline is a file .html or .json";
    return false;
  }
  const std::string text = page ? TimelinePage(launches) : PerfettoTrace(launches);
  const std::string unfinished = path + ".new";
  if (WriteFile(unfinished, text) && rename(unfinished.c_str(), path.c_str()) == 0) return true;
  *error = path + ": " + strerror(errno);
  remove(unfinished.c_str());
  return false;
}

}  // namespace bang
