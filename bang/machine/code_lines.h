// SPDX-License-Identifier: Apache-2.0
#ifndef BANG_MACHINE_CODE_LINES_H_
#define BANG_MACHINE_CODE_LINES_H_

#include <string>

namespace bang {

struct CodeLine {
  std::string file;  // empty: not known
  int line = 0;
};

// The source line of a return address, from the program's debug information. Slow: it asks
// addr2line, which stands beside every compiler. For error texts.
CodeLine FindCodeLine(const void* code);

}  // namespace bang

#endif  // BANG_MACHINE_CODE_LINES_H_
