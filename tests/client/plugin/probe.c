/* SPDX-License-Identifier: Apache-2.0
 *
 * In the place of a plug-in: says from which file it was loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

__attribute__((constructor)) static void say(void) {
  static const char here = 0;
  Dl_info info;
  if (dladdr(&here, &info) != 0) printf("loaded %s\n", info.dli_fname);
}
