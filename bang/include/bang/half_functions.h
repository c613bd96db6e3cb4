// SPDX-License-Identifier: Apache-2.0
//
// The functions of <math.h> for half: computed in float, then rounded. Without them a call with the
// compiler's own fp16 type is ambiguous.
#ifndef BANG_HALF_FUNCTIONS_H_
#define BANG_HALF_FUNCTIONS_H_

#include <math.h>

#include <cmath>

#include "bang/half.h"

#define BANG_HALF_FUNCTION(name) \
  inline half name(half x) { return static_cast<half>(std::name(static_cast<float>(x))); }
#define BANG_HALF_FUNCTION2(name)                                                           \
  inline half name(half x, half y) {                                                        \
    return static_cast<half>(std::name(static_cast<float>(x), static_cast<float>(y)));      \
  }                                                                                         \
  template <typename T, typename = std::enable_if_t<std::is_arithmetic<T>::value &&         \
                                                    !std::is_same<T, half>::value>>         \
  inline bang::Wider<half, T> name(half x, T y) {                                           \
    using Result = bang::Wider<half, T>;                                                    \
    return std::name(static_cast<Result>(x), static_cast<Result>(y));                       \
  }
#define BANG_HALF_FUNCTIONS(one, two)                                                       \
  one(abs) one(fabs) one(floor) one(ceil) one(round) one(rint) one(trunc) one(sqrt) one(exp) \
  one(exp2) one(log) one(log2) one(log10) one(sin) one(cos) one(tan) one(tanh)              \
  two(pow) two(fmod) two(fmax) two(fmin) two(atan2)

#ifndef __STDCPP_FLOAT16_T__  // else the library has them
namespace std {
BANG_HALF_FUNCTIONS(BANG_HALF_FUNCTION, BANG_HALF_FUNCTION2)
}  // namespace std

// Programs call them with and without std::.
#define BANG_USING(name) using std::name;
BANG_HALF_FUNCTIONS(BANG_USING, BANG_USING)
#undef BANG_USING
#endif

#undef BANG_HALF_FUNCTIONS
#undef BANG_HALF_FUNCTION2
#undef BANG_HALF_FUNCTION

#endif  // BANG_HALF_FUNCTIONS_H_
