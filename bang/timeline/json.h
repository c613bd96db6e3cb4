// SPDX-License-Identifier: Apache-2.0
//
// The little of JSON that is needed to write it.
#ifndef BANG_TIMELINE_JSON_H_
#define BANG_TIMELINE_JSON_H_

#include <stdint.h>

#include <string>

namespace bang {

// A string with its quotes. What HTML could take for markup is escaped, so that it may stand in a
// <script>; bytes that are no UTF-8 become U+FFFD.
std::string JsonString(const std::string& text);
std::string JsonNumber(double value, int decimals);  // inf and NaN: 0

}  // namespace bang

#endif  // BANG_TIMELINE_JSON_H_
