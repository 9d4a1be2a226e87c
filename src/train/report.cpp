#include <cmath>

#include <thalweg/base/file.h>
#include <thalweg/train/report.h>

#include "train/report_html.h"
#include "train/report_json.h"
#include "train/report_page.h"
#include "train/report_sections.h"

namespace thalweg::train {
namespace {

// The charts themselves are drawn by the script from the figures.
std::string curves(const ReportData& data) {
  if (data.steps.empty() && data.epochs.empty()) return {};
  return "<div id=\"charts\"></div>\n<noscript><p class=\"note\">The curves need "
         "JavaScript.</p></noscript>\n" +
         epochs_html(data.epochs);
}

std::string net_and_settings(const ReportData& data) {
  const std::string html = section("net", "Net", net_html(data.net)) +
                           section("settings", "Settings", settings_html(data.settings));
  return html.empty() ? html : "<div class=\"columns\">\n" + html + "</div>\n";
}

ReportEpoch& epoch_of(ReportData& data, const MetricsLine& line) {
  if (data.epochs.empty() || data.epochs.back().epoch != line.epoch)
    data.epochs.push_back({.epoch = line.epoch});
  data.epochs.back().step = line.step;
  return data.epochs.back();
}

}  // namespace

void add_curves(ReportData& data, const std::vector<MetricsLine>& lines) {
  for (const MetricsLine& line : lines) {
    if (line.part == "step") {
      data.steps.push_back({.step = line.step,
                            .loss = value_of(line.figures, "loss", std::nan("")),
                            .learning_rate = value_of(line.figures, "learning_rate", 0)});
    } else if (line.part == "train") {
      epoch_of(data, line).train = line.figures;
    } else if (line.part == "test") {
      epoch_of(data, line).test = line.figures;
    }
  }
}

std::string render_report(const ReportData& data) {
  const std::string title = escape(data.title);
  return fill_template(
      kReportPage,
      {{"title", title},
       {"style", kReportStyle},
       {"status", escape(data.status)},
       {"facts", facts_html(data)},
       {"tiles", tiles_html(data)},
       {"curves", section("curves", "Curves", curves(data))},
       {"confusion", section("confusion", "Confusion", confusion_html(data.confusion))},
       {"worst", section("worst", "Worst mistakes", worst_html(data.worst))},
       {"net", net_and_settings(data)},
       {"timings", section("timings", "Time", phases_html(data.phases, data.seconds))},
       {"json", report_json(data)},
       {"script", kReportScript}});
}

void write_report(const std::string& path, const ReportData& data) {
  write_file(path, render_report(data));
}

}  // namespace thalweg::train
