// SPDX-License-Identifier: Apache-2.0
//
// Whether a JSON document that a user hands in is what this program writes. Everything that is read
// later is asked for here, so that a broken file is an error text and never a crash.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>

#include "files/file.h"

namespace detops::cli {

using Json = nlohmann::ordered_json;
using Keys = std::initializer_list<const char*>;

template <class Kind>
bool HasAll(const Json& object, Keys keys, Kind is_kind) {
  return object.is_object() && std::ranges::all_of(keys, [&](const char* key) {
           return object.contains(key) && is_kind(object[key]);
         });
}
inline bool HasStrings(const Json& o, Keys keys) {
  return HasAll(o, keys, [](const Json& v) { return v.is_string(); });
}
inline bool HasNumbers(const Json& o, Keys keys) {
  return HasAll(o, keys, [](const Json& v) { return v.is_number(); });
}
// Whole numbers that an int holds.
inline bool HasInts(const Json& o, Keys keys) {
  return HasAll(o, keys, [](const Json& v) {
    return v.is_number_integer() && std::abs(v.get<double>()) <= std::numeric_limits<int>::max();
  });
}
inline bool HasNumbersOrNull(const Json& o, Keys keys) {
  return HasAll(o, keys, [](const Json& v) { return v.is_number() || v.is_null(); });
}
// An array of which every element is one.
template <class Kind>
bool HasArray(const Json& o, const char* key, Kind is_kind) {
  return HasAll(o, {key},
                [&](const Json& v) { return v.is_array() && std::ranges::all_of(v, is_kind); });
}

inline bool IsEnvironment(const Json& e) {
  return HasStrings(e, {"detops", "time", "system", "compiler"}) && HasInts(e, {"threads"}) &&
         (!e.contains("quick") || e["quick"].is_boolean()) &&
         HasArray(e, "devices",
                  [](const Json& d) {
                    return HasStrings(d, {"name", "description", "reason"}) &&
                           HasAll(d, {"usable"}, [](const Json& v) { return v.is_boolean(); });
                  }) &&
         HasArray(e, "unusable", [](const Json& u) {
           return HasStrings(u, {"name", "reason"});
         });
}

inline Json ReadJson(const std::filesystem::path& file) {
  constexpr int64_t kMostBytes = int64_t{256} << 20;
  // Documents are six levels deep. Copying and writing one needs stack and time for each level.
  constexpr int kMostDepth = 32;
  const auto require_flat = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kMostDepth) {
      throw UserError(
          fmt::format("{}: is nested deeper than {} levels", file.string(), kMostDepth));
    }
    return true;
  };
  Json json = Json::parse(ReadFile(file, kMostBytes), require_flat, false);
  if (json.is_discarded()) throw UserError(file.string() + ": is no JSON");
  return json;
}

}  // namespace detops::cli
