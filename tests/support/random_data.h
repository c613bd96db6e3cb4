// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/random.h"

namespace detops::test {
using namespace random;
}
