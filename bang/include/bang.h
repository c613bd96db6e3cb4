// SPDX-License-Identifier: Apache-2.0
//
// BANG C: types, built-ins and the host's API. bangcc includes this file before every .mlu;
// programs may include it, too.
#ifndef BANG_BANG_H_
#define BANG_BANG_H_

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "bang/builtins.h"
#include "bang/half.h"
#include "bang/kernel_name.h"
#include "bang/launch.h"
#include "bang/machine.h"
#include "bang/task.h"
#include "bang/vector_registers.h"
#include "bang/where.h"
#include "cnrt.h"

#ifdef __BANG__
// Device code may call max and min of numbers without a namespace. Two types make these the last
// choice: a program's own, and those of std, come first.
template <typename A, typename B, typename T = std::common_type_t<A, B>,
          std::enable_if_t<::bang::ElementType<T>::kIsElement, int> = 0>
constexpr T max(A a, B b) {
  return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}
template <typename A, typename B, typename T = std::common_type_t<A, B>,
          std::enable_if_t<::bang::ElementType<T>::kIsElement, int> = 0>
constexpr T min(A a, B b) {
  return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
#endif

// The keywords are bangcc's business; a plain host compiler sees through them.
#ifndef __BANGCC__
#define __mlu_func__
#define __mlu_device__
#define __mlu_host__
#define __mlu_global__
#define __mlu_entry__
#define __mlu_builtin__
#define __mlu_vector__
#define __nram__
#define __wram__
#define __mlu_shared__
#define __ldram__
#define __mlu_const__ const
#define __mlu_constant__ const
#endif

#endif  // BANG_BANG_H_
