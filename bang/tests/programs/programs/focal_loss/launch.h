// SPDX-License-Identifier: Apache-2.0
#ifndef LAUNCH_H_
#define LAUNCH_H_

#include <cn_api.h>
#include <cnrt.h>

#define REM_FOR_STACK (128 * 1024)
#define MIN(x, y) ((x) < (y) ? (x) : (y))

void KernelFocalLoss(cnrtDim3_t k_dim, cnrtFunctionType_t k_type, cnrtQueue_t queue,
                     const cnrtDataType_t d_type, const void *input, const void *target,
                     const int32_t N, const int32_t C, const float alpha, void *output);
void policyFunc(cnrtDim3_t *k_dim, cnrtFunctionType_t *k_type, int rows);

#endif  // LAUNCH_H_
