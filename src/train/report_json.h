#pragma once

#include <string>

#include <thalweg/train/report.h>

namespace thalweg::train {

/// All figures as JSON that can stand inside a <script> element. Not finite numbers are null.
std::string report_json(const ReportData& data);

}  // namespace thalweg::train
