#include "data/reader/source_state.h"

#include <nlohmann/json.hpp>

#include "base/fail.h"

namespace thalweg::data {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;

void require(bool holds, const char* what) {
  if (!holds) fail_invalid("reader: this is no state of a minibatch source; {}", what);
}

}  // namespace

// Written at every step of training, so not by way of a tree.
std::string to_json(const SourceState& state) {
  std::string json =
      fmt::format(R"({{"version":{},"seed":{},"sweep":{},"position":{},"samples":{})", kVersion,
                  state.seed, state.sweep, state.position, state.samples);
  if (state.bucket_size > 0)
    json +=
        fmt::format(R"(,"bucket_size":{},"bucket_next":{})", state.bucket_size, state.bucket_next);
  if (!state.slots.empty()) {
    const char* separator = R"(,"slots":[)";
    for (const SourceState::Slot& slot : state.slots) {
      json += fmt::format("{}[{},{},{}]", separator, slot.sweep, slot.position, slot.samples);
      separator = ",";
    }
    json += ']';
  }
  json += fmt::format(R"(,"sequences":{},"chunk_bytes":{},"window_bytes":{},"order":"{}"}})",
                      state.sequences, state.chunk_bytes, state.window_bytes, state.order);
  return json;
}

SourceState source_state_from(std::string_view text) {
  SourceState state;
  try {
    const Json json = Json::parse(text);
    require(json.at("version").get<int>() == kVersion, "its version is another one");
    json.at("seed").get_to(state.seed);
    json.at("sweep").get_to(state.sweep);
    json.at("position").get_to(state.position);
    json.at("samples").get_to(state.samples);
    state.bucket_size = json.value("bucket_size", int64_t{0});
    state.bucket_next = json.value("bucket_next", int64_t{0});
    if (json.contains("slots")) {
      for (const Json& slot : json.at("slots"))
        state.slots.push_back(
            {slot.at(0).get<int64_t>(), slot.at(1).get<int64_t>(), slot.at(2).get<int64_t>()});
    }
    json.at("sequences").get_to(state.sequences);
    json.at("chunk_bytes").get_to(state.chunk_bytes);
    json.at("window_bytes").get_to(state.window_bytes);
    json.at("order").get_to(state.order);
  } catch (const Json::exception& error) {
    require(false, error.what());
  }
  bool fits = state.sweep >= 0 && state.position >= 0 && state.samples >= 0 &&
              state.bucket_size >= 0 && state.bucket_next >= 0;
  for (const SourceState::Slot& slot : state.slots)
    fits = fits && slot.sweep >= 0 && slot.position >= 0 && slot.samples >= 0;
  require(fits, "a number is negative");
  return state;
}

}  // namespace thalweg::data
