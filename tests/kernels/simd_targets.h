#pragma once

// Runs a test once for each instruction set that our SIMD kernels have and this processor knows.

// clang-format off
#include "kernels/simd/targets.h"
#include <hwy/highway.h>
// clang-format on

#include <gtest/gtest.h>

namespace thalweg {

template <typename F>
void for_each_simd_target(F&& f) {
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    simd::choose_target();
    f();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  simd::choose_target();
}

}  // namespace thalweg
