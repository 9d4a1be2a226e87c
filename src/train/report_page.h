#pragma once

// The files of report/, which the build turns into text in the program: see report/embed.cmake.

#include <string_view>

namespace thalweg::train {

extern const std::string_view kReportPage;    // report.html
extern const std::string_view kReportStyle;   // report.css
extern const std::string_view kReportScript;  // report.js

}  // namespace thalweg::train
