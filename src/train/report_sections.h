#pragma once

// The report's sections that are ready HTML. An empty part of ReportData gives an empty string.

#include <string>

#include <thalweg/train/report.h>

namespace thalweg::train {

/// Command line, device, seed and so on.
std::string facts_html(const ReportData& data);

/// The final figures and the size and speed of the run, large.
std::string tiles_html(const ReportData& data);

/// A row an epoch.
std::string epochs_html(const std::vector<ReportEpoch>& epochs);

/// The matrix as a table up to 32 classes, as a picture above, and the most frequent mistakes.
/// Throws Error invalid if the counts are not [n, n] or negative.
std::string confusion_html(const ReportConfusion& confusion);

/// The images with true and predicted label. Throws Error invalid if pixels do not fill an image.
std::string worst_html(const std::vector<ReportImage>& images);

std::string net_html(const Diagram& net);
std::string settings_html(const std::vector<ReportSetting>& settings);
std::string phases_html(const std::vector<ReportPhase>& phases, double seconds);

}  // namespace thalweg::train
