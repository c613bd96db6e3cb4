/* SPDX-License-Identifier: Apache-2.0
 *
 * For libraries that show errors and times by themselves. The cards' runtime has nothing like it:
 * ask for the functions by their names (dlsym).
 */
#ifndef BANG_SIMULATOR_H_
#define BANG_SIMULATOR_H_

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* What stderr said when a kernel was stopped on the current device: the line, the rule, the core.
 * "" where none was. Valid until cnrtDeviceReset. */
const char* bangErrorText(void);

/* How much of the calling thread's time launches have taken so far, which on a card would have been
 * the device's. */
double bangLaunchSeconds(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif /* BANG_SIMULATOR_H_ */
