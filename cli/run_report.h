#pragma once

#include "cli/setup.h"

namespace thalweg::cli {

/// Fills in what only the command knows: settings, net, confusion matrix, worst samples.
void complete_report(train::ReportData& report, Recipe& recipe, const RecipeData& data,
                     nn::Sequential& net, const train::LossFunction& loss);

}  // namespace thalweg::cli
