#pragma once

#include <thalweg/train/report.h>

namespace thalweg::train {

/// A run as a net on Fashion-MNIST leaves it, made up from formulas; ten epochs of 938 steps.
ReportData sample_report();

}  // namespace thalweg::train
