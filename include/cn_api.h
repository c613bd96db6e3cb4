/* SPDX-License-Identifier: Apache-2.0
 *
 * For programs that include it beside cnrt.h: the driver's interface, of which such programs call
 * nothing. */
#ifndef CN_API_H_
#define CN_API_H_

#endif /* CN_API_H_ */
