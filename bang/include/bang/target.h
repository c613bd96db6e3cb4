// SPDX-License-Identifier: Apache-2.0
#ifndef BANG_TARGET_H_
#define BANG_TARGET_H_

namespace bang {

// bangcc calls this for every file with device code, before main: 372 or 592. The first one chooses
// the device where BANG_DEVICE does not.
bool CompiledFor(int arch);

}  // namespace bang

#endif  // BANG_TARGET_H_
