// SPDX-License-Identifier: Apache-2.0
#ifndef BANG_TARGET_H_
#define BANG_TARGET_H_

namespace bang {

// bangcc calls this for every file with device code, before main or when its library is loaded: 372
// or 592. Where BANG_DEVICE names no devices, these are they, in this order.
bool CompiledFor(int arch);

}  // namespace bang

#endif  // BANG_TARGET_H_
