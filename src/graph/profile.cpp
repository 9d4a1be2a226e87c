#include <algorithm>

#include <nlohmann/json.hpp>

#include <thalweg/base/file.h>
#include <thalweg/base/text.h>
#include <thalweg/base/threads.h>
#include <thalweg/graph/profile.h>

#include "base/fail.h"
#include "graph/machine_rates.h"
#include "graph/profiler.h"

namespace thalweg {
namespace {

double share(double done, double seconds, double peak) {
  return seconds > 0 && peak > 0 ? done / seconds / peak : 0;
}

std::string rate(double done, double seconds) {
  return seconds > 0 ? fmt::format("{:.1f}", done / seconds * 1e-9) : "-";
}

}  // namespace

MachinePeak measure_peak() {
  constexpr double kSeconds = 0.05;
  return {measure_product_rate(DType::f32, 512, kSeconds),
          measure_copy_rate(int64_t{64} << 20, kSeconds)};
}

Profile::Profile(const ProfileOptions& options) {
  if (options.events < 0) fail_invalid("profile: {} events; give 0 or more", options.events);
  if (active_profiler()) fail_invalid("profile: this thread is being profiled already");
  if (thread_mode().tracer) fail_invalid("profile: this thread is being traced");
  profiler_ = std::make_unique<Profiler>(options);
  set_profiler(profiler_.get());
}

Profile::~Profile() { stop(); }

void Profile::stop() {
  if (active_profiler() != profiler_.get()) return;
  profiler_->end();
  set_profiler(nullptr);
}

double Profile::seconds() const { return static_cast<double>(profiler_->nanoseconds()) * 1e-9; }
size_t Profile::peak_memory() const { return profiler_->peak_memory(); }

std::vector<ProfileEntry> Profile::entries() const {
  std::vector<ProfileEntry> entries = profiler_->entries();
  std::ranges::stable_sort(entries, std::greater(), &ProfileEntry::seconds);
  return entries;
}

std::string Profile::table(const MachinePeak& peak) const {
  const std::vector<ProfileEntry> entries = this->entries();
  size_t op_width = 2, kernel_width = 6;
  double kernels = 0;
  for (const ProfileEntry& entry : entries) {
    op_width = std::max(op_width, entry.op.size());
    kernel_width = std::max(kernel_width, entry.kernel.size());
    kernels += entry.seconds;
  }
  std::string text = fmt::format(
      "{:<{}}  {:<{}}  {:>8}  {:>8}  {:>8}  {:>6}  {:>7}  {:>6}  {:>6}\n", "op", op_width, "kernel",
      kernel_width, "calls", "time", "mean", "share", "GFLOP/s", "GB/s", "peak");
  for (const ProfileEntry& entry : entries) {
    const auto operations = static_cast<double>(entry.operations);
    const auto bytes = static_cast<double>(entry.bytes);
    const double nearest = std::max(share(operations, entry.seconds, peak.flops),
                                    share(bytes, entry.seconds, peak.bytes));
    text += fmt::format(
        "{:<{}}  {:<{}}  {:>8}  {:>8}  {:>8}  {:>4.1f} %  {:>7}  {:>6}  {:>4.0f} %\n", entry.op,
        op_width, entry.kernel, kernel_width, entry.calls, format_duration(entry.seconds),
        format_duration(entry.seconds / static_cast<double>(entry.calls)),
        kernels > 0 ? 100 * entry.seconds / kernels : 0, rate(operations, entry.seconds),
        rate(bytes, entry.seconds), 100 * nearest);
  }
  text += fmt::format(
      "kernels took {} of {}; live tensors at most {}; peak of this machine, measured now with {} "
      "threads: {:.1f} GFLOP/s, {:.1f} GB/s\n",
      format_duration(kernels), format_duration(seconds()), format_bytes(peak_memory()),
      num_threads(), peak.flops * 1e-9, peak.bytes * 1e-9);
  if (profiler_->left_out() > 0)
    text +=
        fmt::format("{} events are in the table alone, not in the trace\n", profiler_->left_out());
  return text;
}

void Profile::write_trace(const std::string& path) const {
  write_file(path, trace_json(*profiler_));
}

ProfileScope::ProfileScope(const char* name) : name_(name) {
  if (const Profiler* profiler = active_profiler()) start_ = profiler->now();
}

ProfileScope::~ProfileScope() {
  Profiler* profiler = active_profiler();
  if (profiler && start_ >= 0) profiler->add_scope(name_, start_, profiler->now() - start_);
}

void note_stretch(const char* name, double seconds) {
  Profiler* profiler = active_profiler();
  if (!profiler) return;
  const auto nanoseconds = static_cast<int64_t>(seconds * 1e9);
  profiler->add_scope(name, std::max<int64_t>(profiler->now() - nanoseconds, 0), nanoseconds);
}

std::string trace_json(const Profiler& profiler) {
  using Json = nlohmann::ordered_json;
  const auto us = [](int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-3; };
  const auto dumped = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  text +=
      dumped({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", "thalweg"}}}});
  size_t live = ~size_t{0};
  for (const Profiler::Event& event : profiler.events()) {
    const bool is_scope = event.entry == Profiler::kNoEntry;
    Json json{{"name", is_scope ? event.scope : profiler.entries()[event.entry].op},
              {"cat", is_scope ? "scope" : "op"},
              {"ph", "X"},
              {"ts", us(event.start)},
              {"dur", us(event.nanoseconds)},
              {"pid", 1},
              {"tid", 1}};
    if (!is_scope) {
      json["args"] = {{"kernel", profiler.entries()[event.entry].kernel},
                      {"operations", event.operations},
                      {"bytes", event.bytes},
                      {"planned", event.planned}};
    }
    text += ",\n" + dumped(json);
    if (event.live == live) continue;
    live = event.live;
    text += ",\n" + dumped({{"name", "live tensors"},
                            {"ph", "C"},
                            {"ts", us(event.start + event.nanoseconds)},
                            {"pid", 1},
                            {"args", {{"bytes", live}}}});
  }
  return text + "\n]}\n";
}

}  // namespace thalweg
