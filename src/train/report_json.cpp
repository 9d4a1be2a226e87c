#include "train/report_json.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace thalweg::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxRuns = 1500;

Json figures_json(const Figures& figures) {
  Json json = Json::object();
  for (const Figure& figure : figures) json[figure.name] = figure.value;
  return json;
}

// A run of steps: the mean, least and largest loss; step and learning rate of its last one.
void append_run(Json& json, const ReportStep* begin, const ReportStep* end) {
  double sum = 0, low = begin->loss, high = begin->loss;
  for (const ReportStep* step = begin; step != end; ++step) {
    sum += step->loss;
    low = std::min(low, step->loss);
    high = std::max(high, step->loss);
  }
  json["step"].push_back(end[-1].step);
  json["loss"].push_back(sum / static_cast<double>(end - begin));
  json["low"].push_back(low);
  json["high"].push_back(high);
  json["learning_rate"].push_back(end[-1].learning_rate);
}

Json steps_json(const std::vector<ReportStep>& steps) {
  Json json;
  for (const char* name : {"step", "loss", "low", "high", "learning_rate"})
    json[name] = Json::array();
  const size_t length = (steps.size() + kMaxRuns - 1) / kMaxRuns;
  for (size_t i = 0; i < steps.size(); i += length)
    append_run(json, &steps[i], steps.data() + std::min(i + length, steps.size()));
  return json;
}

Json epochs_json(const std::vector<ReportEpoch>& epochs) {
  Json json = Json::array();
  for (const ReportEpoch& epoch : epochs)
    json.push_back({{"epoch", epoch.epoch},
                    {"step", epoch.step},
                    {"seconds", epoch.seconds},
                    {"train", figures_json(epoch.train)},
                    {"test", figures_json(epoch.test)}});
  return json;
}

Json worst_json(const std::vector<ReportImage>& images) {
  Json json = Json::array();
  for (const ReportImage& image : images)
    json.push_back({{"index", image.index},
                    {"truth", image.truth},
                    {"predicted", image.predicted},
                    {"probability", image.probability},
                    {"truth_probability", image.truth_probability}});
  return json;
}

Json net_json(const Diagram& net) {
  Json json{{"nodes", Json::array()}, {"edges", Json::array()}};
  for (const DiagramNode& node : net.nodes)
    json["nodes"].push_back(
        {{"id", node.id}, {"label", node.label}, {"kind", node.kind}, {"detail", node.detail}});
  for (const DiagramEdge& edge : net.edges)
    json["edges"].push_back({{"from", edge.from}, {"to", edge.to}, {"label", edge.label}});
  return json;
}

Json settings_json(const std::vector<ReportSetting>& settings) {
  Json json = Json::object();
  for (const ReportSetting& setting : settings) json[setting.key] = setting.value;
  return json;
}

Json phases_json(const std::vector<ReportPhase>& phases) {
  Json json = Json::array();
  for (const ReportPhase& phase : phases)
    json.push_back({{"name", phase.name}, {"seconds", phase.seconds}, {"calls", phase.calls}});
  return json;
}

// In JSON '<' occurs in strings only; escaped there, no "</script>" or "<!--" can end the element.
std::string safe_in_script(const std::string& json) {
  std::string out;
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string report_json(const ReportData& data) {
  const Json json{
      {"title", data.title},
      {"status", data.status},
      {"started", data.started},
      {"resumed", data.resumed},
      {"command", data.command},
      {"data", data.data},
      {"version", data.version},
      {"device", data.device},
      {"threads", data.threads},
      {"seed", data.seed},
      {"parameters", data.parameters},
      {"seconds", data.seconds},
      {"samples_per_s", data.samples_per_s},
      {"final", figures_json(data.final_figures)},
      {"steps", steps_json(data.steps)},
      {"epochs", epochs_json(data.epochs)},
      {"confusion", {{"classes", data.confusion.classes}, {"counts", data.confusion.counts}}},
      {"worst", worst_json(data.worst)},
      {"net", net_json(data.net)},
      {"settings", settings_json(data.settings)},
      {"phases", phases_json(data.phases)}};
  return safe_in_script(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace thalweg::train
