#include "train/report_sections.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <thalweg/base/text.h>

#include "graph/diagram_layout.h"
#include "train/png.h"
#include "train/report_html.h"

namespace thalweg::train {
namespace {

constexpr double kSideBySide = 620;  // pixels of a diagram that leaves room for the settings

std::string time_text(double seconds) { return seconds > 0 ? format_duration(seconds) : "-"; }

std::string fact(std::string_view id, std::string_view name, const std::string& value) {
  if (value.empty()) return {};
  return fmt::format("<div><dt>{}</dt><dd id=\"{}\">{}</dd></div>\n", name, id, escape(value));
}

std::string tile(std::string_view id, const std::string& name, double value,
                 const std::string& shown) {
  return fmt::format(
      "<div class=\"tile\"><dt>{}</dt><dd id=\"{}\" data-value=\"{}\">{}</dd></div>\n", name, id,
      value, shown);
}

// Names in the order of their first appearance.
std::vector<std::string> names_of(const std::vector<ReportEpoch>& epochs,
                                  Figures ReportEpoch::*part) {
  std::vector<std::string> names;
  for (const ReportEpoch& epoch : epochs)
    for (const Figure& figure : epoch.*part)
      if (std::find(names.begin(), names.end(), figure.name) == names.end())
        names.push_back(figure.name);
  return names;
}

std::string header_cells(const std::vector<std::string>& names, std::string_view part) {
  std::string html;
  for (const std::string& name : names)
    html += fmt::format("<th scope=\"col\">{} {}</th>", part, escape(name));
  return html;
}

std::string value_cells(const std::vector<std::string>& names, const Figures& figures) {
  std::string html;
  for (const std::string& name : names)
    html += fmt::format("<td>{}</td>", number(value_of(figures, name, std::nan(""))));
  return html;
}

std::string image_html(const ReportImage& image) {
  const std::string png = encode_png(image.pixels, image.height, image.width, image.channels);
  return fmt::format(
      "<figure><img src=\"data:image/png;base64,{}\" width=\"{}\" height=\"{}\" "
      "alt=\"Sample {}: {} taken for {}\"><figcaption><b>{}</b> taken for <b>{}</b>"
      "<span>{} against {}</span><span>sample {}</span></figcaption></figure>\n",
      base64(png), image.width, image.height, image.index, escape(image.truth),
      escape(image.predicted), escape(image.truth), escape(image.predicted),
      percent(image.probability), percent(image.truth_probability), count(image.index));
}

std::string phase_row(const std::string& name, double seconds, int64_t calls, double total) {
  const double share = total > 0 ? seconds / total : 0;
  return fmt::format(
      "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"share\">"
      "<span style=\"width:{:.1f}%\"></span>{}</td><td>{}</td></tr>\n",
      label(name), time_text(seconds), calls > 0 ? count(calls) : "", 100 * share, percent(share),
      calls > 0 ? fmt::format("{:.4g} ms", 1000 * seconds / static_cast<double>(calls)) : "");
}

}  // namespace

std::string facts_html(const ReportData& data) {
  std::string html = "<dl class=\"facts\">\n";
  html += fact("command", "Command", data.command);
  html += fact("data", "Data", data.data);
  html += fact("started", "Started", data.started);
  html += fact("resumed", "Went on", data.resumed);
  html += fact("device", "Device", data.device);
  if (data.threads > 0) html += fact("threads", "Threads", fmt::format("{}", data.threads));
  html += fact("seed", "Seed", fmt::format("{}", data.seed));
  html += fact("version", "Thalweg", data.version);
  return html + "</dl>\n";
}

std::string tiles_html(const ReportData& data) {
  std::string html;
  for (const Figure& figure : data.final_figures)
    html +=
        tile("final-" + slug(figure.name), label(figure.name), figure.value, number(figure.value));
  if (data.parameters > 0)
    html += tile("run-parameters", "Parameters", static_cast<double>(data.parameters),
                 count(data.parameters));
  if (data.samples_per_s > 0)
    html += tile("run-samples-per-s", "Samples a second", data.samples_per_s,
                 count(std::llround(data.samples_per_s)));
  if (data.seconds > 0)
    html += tile("run-seconds", "Time", data.seconds, format_duration(data.seconds));
  return html.empty() ? html : "<dl class=\"tiles\">\n" + html + "</dl>\n";
}

std::string epochs_html(const std::vector<ReportEpoch>& epochs) {
  if (epochs.empty()) return {};
  const std::vector<std::string> train = names_of(epochs, &ReportEpoch::train);
  const std::vector<std::string> test = names_of(epochs, &ReportEpoch::test);
  std::string html =
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Epochs\"><table "
      "class=\"numbers\"><thead><tr><th scope=\"col\">epoch</th><th scope=\"col\">step</th>" +
      header_cells(train, "train") + header_cells(test, "test") +
      "<th scope=\"col\">time</th></tr></thead><tbody>\n";
  for (const ReportEpoch& epoch : epochs)
    html += fmt::format(
        "<tr id=\"epoch-{}\"><th scope=\"row\">{}</th><td>{}</td>{}{}<td>{}</td></tr>\n",
        epoch.epoch, epoch.epoch, count(epoch.step), value_cells(train, epoch.train),
        value_cells(test, epoch.test), time_text(epoch.seconds));
  return html + "</tbody></table></div>\n";
}

std::string worst_html(const std::vector<ReportImage>& images) {
  std::string html;
  for (const ReportImage& image : images) html += image_html(image);
  if (html.empty()) return html;
  return "<p class=\"note\">Test samples of which the net was surest, and wrong: the probability "
         "of "
         "its answer against that of the true one.</p>\n<div class=\"images\">\n" +
         html + "</div>\n";
}

std::string net_html(const Diagram& net) {
  if (net.nodes.empty()) return {};
  const double width = layout_diagram(net).width;
  return fmt::format(
      "<div class=\"scroll diagram{}\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Net\">\n{}</div>\n",
      width <= kSideBySide ? "" : " wide", draw_diagram(net));
}

std::string settings_html(const std::vector<ReportSetting>& settings) {
  if (settings.empty()) return {};
  std::string html =
      "<table class=\"settings\"><thead><tr><th scope=\"col\">setting</th>"
      "<th scope=\"col\">value</th></tr></thead><tbody>\n";
  for (const ReportSetting& setting : settings)
    html += fmt::format("<tr><th scope=\"row\"><code>{}</code></th><td><code>{}</code></td></tr>\n",
                        escape(setting.key), escape(setting.value));
  return html + "</tbody></table>\n";
}

std::string phases_html(const std::vector<ReportPhase>& phases, double seconds) {
  if (phases.empty()) return {};
  double sum = 0;
  for (const ReportPhase& phase : phases) sum += phase.seconds;
  const double total = std::max(seconds, sum);
  std::string html =
      "<table class=\"numbers phases\"><thead><tr><th scope=\"col\">phase</th><th "
      "scope=\"col\">time</th><th scope=\"col\">calls</th><th scope=\"col\" "
      "class=\"share\">share</th><th "
      "scope=\"col\">a call</th></tr></thead><tbody>\n";
  for (const ReportPhase& phase : phases)
    html += phase_row(phase.name, phase.seconds, phase.calls, total);
  if (total - sum > 0.005 * total) html += phase_row("everything else", total - sum, 0, total);
  html += fmt::format(
      "</tbody><tfoot><tr><th scope=\"row\">Total</th><td>{}</td><td></td><td></td><td></td></tr>"
      "</tfoot></table>\n",
      format_duration(total));
  return html;
}

}  // namespace thalweg::train
