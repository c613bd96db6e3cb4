// SPDX-License-Identifier: Apache-2.0
//
// Formulas that are templates over the lane type must be compiled with the instructions of the
// vectors they are used on. Their headers are therefore included once for each Highway target, into
// a namespace of that target, between these two macros; without Highway (reference, CUDA) the
// namespace is detops::math and nothing else changes.
#undef DETOPS_BEGIN_PER_TARGET_MATH
#undef DETOPS_END_PER_TARGET_MATH
#ifdef HWY_NAMESPACE
#define DETOPS_BEGIN_PER_TARGET_MATH \
  HWY_BEFORE_NAMESPACE();            \
  namespace detops::math::HWY_NAMESPACE {
#define DETOPS_END_PER_TARGET_MATH \
  }                                \
  HWY_AFTER_NAMESPACE();
#else
#define DETOPS_BEGIN_PER_TARGET_MATH namespace detops::math {
#define DETOPS_END_PER_TARGET_MATH }
#endif
