// SPDX-License-Identifier: Apache-2.0
//
// Memory of the host that a kernel may read without being device memory.
#ifndef BANG_MACHINE_HOST_MEMORY_H_
#define BANG_MACHINE_HOST_MEMORY_H_

namespace bang {

// Variables and constants of the program and its libraries: __mlu_const__ arrays are among them.
bool IsProgramData(const void* address);

// The bounds of the calling thread's stack, with the thread's own variables.
void GetStack(const char** begin, const char** end);

// The executable code of the program, or of the library, that this function is in.
void GetCode(const void* function, const void** begin, const void** end);

}  // namespace bang

#endif  // BANG_MACHINE_HOST_MEMORY_H_
