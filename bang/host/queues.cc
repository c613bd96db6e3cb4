// SPDX-License-Identifier: Apache-2.0
#include "host/queues.h"

namespace bang {

// Never destroyed: destructors of a program's static objects may still use them.
Handles<cnrtQueue>& Queues() {
  static auto& queues = *new Handles<cnrtQueue>;
  return queues;
}

Handles<cnrtNotifier>& Notifiers() {
  static auto& notifiers = *new Handles<cnrtNotifier>;
  return notifiers;
}

}  // namespace bang
