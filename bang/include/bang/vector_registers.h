// SPDX-License-Identifier: Apache-2.0
//
// Types of the vector registers. They are not simulated: headers that declare functions of them
// compile, and a function that uses them stops the kernel when it is reached.
#ifndef BANG_VECTOR_REGISTERS_H_
#define BANG_VECTOR_REGISTERS_H_

#ifdef __BANG__
struct vv_half {};
struct vv_bfloat16 {};
struct vv_float {};
struct vv_int8 {};
struct vv_uint8 {};
struct vv_int16 {};
struct vv_uint16 {};
struct vv_int32 {};
struct vv_uint32 {};
struct vv_int64 {};
struct vv_uint64 {};
struct vv_bool {};
#endif

#endif  // BANG_VECTOR_REGISTERS_H_
