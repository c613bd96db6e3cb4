// SPDX-License-Identifier: Apache-2.0
#include "machine/code_lines.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine/failure.h"

namespace bang {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

CodeLine FindCodeLine(const void* code) {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(code, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return {};
  const std::string file = map->l_name[0] != '\0' ? map->l_name : "/proc/self/exe";
  char real[4096];
  if (realpath(file.c_str(), real) == nullptr) return {};
  // A return address is behind its call.
  const uintptr_t offset = reinterpret_cast<uintptr_t>(code) - 1 - map->l_addr;
  const std::string command = Format("addr2line -e %s 0x%llx 2>/dev/null", Quoted(real).c_str(),
                                     static_cast<unsigned long long>(offset));
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  char text[4096] = "";
  const bool read = fgets(text, sizeof text, pipe) != nullptr;
  pclose(pipe);
  if (!read) return {};
  const std::string answer = text;
  const size_t colon = answer.rfind(':');
  if (colon == std::string::npos || answer[0] == '?') return {};
  return {answer.substr(0, colon), atoi(answer.c_str() + colon + 1)};
}

}  // namespace bang
