/* SPDX-License-Identifier: Apache-2.0
 *
 * usage: plugin_program FOLDER
 * Goes into the folder, and only then asks for the devices, which loads the plug-in. */
#define _POSIX_C_SOURCE 200809L
#include <detops/detops.h>
#include <unistd.h>

int main(int argc, char** argv) {
  size_t count = 0;
  if (argc != 2 || chdir(argv[1]) != 0) return 2;
  return detopsListDevices(NULL, 0, &count) == MLUOP_STATUS_SUCCESS ? 0 : 1;
}
