#include "graph/launch_graphs.h"

#include <algorithm>

#include "base/fail.h"

namespace thalweg {
namespace {

// One kernel is launched as fast without a graph.
constexpr size_t kLeastSteps = 2;
// To capture takes as long as to launch one by one, so it must be worth it.
constexpr int kMostMoves = 8;

}  // namespace

LaunchGraphs::LaunchGraphs(std::vector<Step> steps, Capture capture)
    : steps_(std::move(steps)), capture_(capture) {
  find_segments();
}

// Null for a step that can be part of a graph.
const char* LaunchGraphs::why_not(const Step& step) {
  if (!step.run) return "the host works between the records";
  if (step.record->draw != kNoIndex) return "it draws random numbers";
  const KernelContext& ctx = *step.context;
  if (ctx.outputs() == 0) return "it has no result";
  const Device device = ctx.out().meta.device;
  if (device.kind == DeviceKind::cpu) return "it runs on the cpu";
  for (size_t i = 0; i < ctx.outputs(); ++i) {
    if (ctx.out(i).meta.device != device) return "it works on two devices";
  }
  for (size_t i = 0; i < ctx.inputs(); ++i) {
    if (!ctx.has(i)) continue;
    const TensorMeta& m = ctx.in(i).meta;
    if (m.device == device) continue;
    if (m.device.kind != DeviceKind::cpu) return "it works on two devices";
    if (!ctx.in(i).row_major) return "an operand in the host's memory has gaps";
  }
  return nullptr;
}

void LaunchGraphs::find_segments() {
  reason_ = "no records follow each other on a device that captures launches";
  for (size_t i = 0; i < steps_.size();) {
    if (why_not(steps_[i])) {
      ++i;
      continue;
    }
    const Device device = steps_[i].context->out().meta.device;
    size_t end = i + 1;
    while (end < steps_.size() && !why_not(steps_[end]) &&
           steps_[end].context->out().meta.device == device)
      ++end;
    if (end - i >= kLeastSteps && (segments_.empty() || device == device_)) {
      device_ = device;
      segments_.push_back({i, end, {}, nullptr});
      reason_.clear();
    }
    i = end;
  }
  segment_at_.assign(steps_.size(), segments_.size());
  for (size_t s = 0; s < segments_.size(); ++s) segment_at_[segments_[s].begin] = s;
}

void LaunchGraphs::begin(const std::vector<const void*>& places) {
  ++replays_;
  if (places == places_) return;
  const bool is_first = places_.empty();
  places_ = places;
  if (is_first || replays_ <= 2) return;
  changed_ = true;
  for (Segment& s : segments_) s.graph.reset();
  if (++moves_ > kMostMoves) reason_ = "gradients are at other places from call to call";
}

size_t LaunchGraphs::run(size_t i) {
  if (segment_at_[i] == segments_.size() || replays_ < 2 || !any()) return i;
  Segment& segment = segments_[segment_at_[i]];
  if (!segment.graph) capture(segment);
  if (!segment.graph) return i;
  for (const Mirror& m : segment.mirrors) {
    put_bytes(device_, m.copy->data, m.host->data,
              static_cast<size_t>(m.host->count) * item_size(m.host->meta.dtype));
  }
  segment.graph->launch();
  return segment.end;
}

void LaunchGraphs::mirror_operands(Segment& segment) const {
  for (size_t i = segment.begin; i < segment.end; ++i) {
    const KernelContext& ctx = *steps_[i].context;
    for (size_t k = 0; k < ctx.inputs(); ++k) {
      if (!ctx.has(k) || ctx.in(k).meta.device == device_) continue;
      const TensorImpl* const host = &ctx.in(k);
      if (std::ranges::find(segment.mirrors, host, &Mirror::host) != segment.mirrors.end())
        continue;
      IntrusivePtr<TensorImpl> copy = TensorImpl::create();
      copy->meta = host->meta;
      copy->meta.device = device_;
      copy->meta.offset = 0;
      copy->allocate();
      segment.mirrors.push_back({host, std::move(copy)});
    }
  }
}

void LaunchGraphs::launch_steps(const Segment& segment) const {
  std::vector<const TensorImpl*> inputs;
  std::vector<TensorImpl*> outputs;
  for (size_t i = segment.begin; i < segment.end; ++i) {
    const KernelContext& ctx = *steps_[i].context;
    inputs.clear();
    outputs.clear();
    for (size_t k = 0; k < ctx.inputs(); ++k) {
      const TensorImpl* in = ctx.has(k) ? &ctx.in(k) : nullptr;
      const auto mirror = std::ranges::find(segment.mirrors, in, &Mirror::host);
      inputs.push_back(in && mirror != segment.mirrors.end() ? mirror->copy.get() : in);
    }
    for (size_t k = 0; k < ctx.outputs(); ++k) outputs.push_back(&ctx.out(k));
    steps_[i].run(KernelContext(ctx.op(), ctx.raw_attrs(), inputs, outputs));
  }
}

void LaunchGraphs::capture(Segment& segment) {
  changed_ = true;
  try {
    if (segment.mirrors.empty()) mirror_operands(segment);
    segment.graph = capture_(device_, [&] { launch_steps(segment); });
    if (!segment.graph) reason_ = "the device captures no launches";
  } catch (const Error& error) {
    reason_ = error.what();
  }
}

std::string LaunchGraphs::describe() const {
  if (!any()) return fmt::format("launched record by record: {}", reason_);
  std::string text;
  for (const Segment& s : segments_) {
    text += fmt::format("{}{} to {}{}", text.empty() ? "" : ", ", s.begin, s.end - 1,
                        s.graph ? "" : " (not captured yet)");
  }
  std::string breaks;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const char* why = steps_[i].run ? why_not(steps_[i]) : nullptr;
    if (why) breaks += fmt::format("; {} ({}): {}", i, steps_[i].record->op->name, why);
  }
  return fmt::format("records launched as one graph: {}{}", text, breaks);
}

}  // namespace thalweg
