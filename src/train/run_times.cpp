#include "train/run_times.h"

#include <nlohmann/json.hpp>

#include <thalweg/base/file.h>

#include "base/fail.h"

namespace thalweg::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxBytes = 64 << 20;

Json to_json(const RunTimes& times) {
  Json phases = Json::object(), epochs = Json::object(), resumed = Json::array();
  for (size_t i = 0; i < kPhases; ++i)
    phases[kPhaseNames[i]] = {{"seconds", times.phases.seconds[i]},
                              {"calls", times.phases.calls[i]}};
  for (const auto& [epoch, seconds] : times.epochs) epochs[std::to_string(epoch)] = seconds;
  for (const RunTimes::Resumption& other : times.resumed)
    resumed.push_back({{"step", other.step}, {"at", other.at}});
  Json json{{"started", times.started},    {"step", times.step},
            {"samples", times.samples},    {"seconds", times.seconds},
            {"phases", std::move(phases)}, {"epochs", std::move(epochs)},
            {"epoch_part", nullptr},       {"resumed", std::move(resumed)}};
  if (times.epoch_part) json["epoch_part"] = *times.epoch_part;
  return json;
}

RunTimes from_json(const Json& json) {
  RunTimes times{.started = json.at("started").get<std::string>(),
                 .step = json.at("step").get<int64_t>(),
                 .samples = json.at("samples").get<int64_t>(),
                 .seconds = json.at("seconds").get<double>()};
  for (size_t i = 0; i < kPhases; ++i) {
    const Json& phase = json.at("phases").at(kPhaseNames[i]);
    times.phases.seconds[i] = phase.at("seconds").get<double>();
    times.phases.calls[i] = phase.at("calls").get<int64_t>();
  }
  for (const auto& [epoch, seconds] : json.at("epochs").items())
    times.epochs[std::stoll(epoch)] = seconds.get<double>();
  times.epoch_part.reset();
  if (const Json& part = json.at("epoch_part"); !part.is_null())
    times.epoch_part = part.get<double>();
  for (const Json& other : json.at("resumed"))
    times.resumed.push_back({other.at("step").get<int64_t>(), other.at("at").get<std::string>()});
  return times;
}

}  // namespace

PhaseTimes& PhaseTimes::operator+=(const PhaseTimes& other) {
  for (size_t i = 0; i < kPhases; ++i) {
    seconds[i] += other.seconds[i];
    calls[i] += other.calls[i];
  }
  return *this;
}

void RunTimes::write(const std::string& path) const { write_file(path, to_json(*this).dump(1)); }

RunTimes RunTimes::read(const std::string& path) {
  try {
    return from_json(Json::parse(read_file(path, kMaxBytes)));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {  // of parsing, of types, of numbers
    fail_io("times: {} is damaged; {}", path, error.what());
  }
}

void RunTimes::go_on(int64_t at_step, int64_t epoch, std::string now) {
  if (step != at_step) epoch_part.reset();
  epochs.erase(epochs.lower_bound(epoch), epochs.end());
  step = at_step;
  resumed.push_back({at_step, std::move(now)});
}

}  // namespace thalweg::train
