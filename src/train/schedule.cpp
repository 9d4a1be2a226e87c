#include <algorithm>
#include <cmath>
#include <numbers>

#include <thalweg/train/schedule.h>

#include "base/fail.h"

namespace thalweg::schedule {
namespace {

void require_steps(const char* name, int64_t steps) {
  if (steps < 1) fail_invalid("schedule: {} with steps = {}; at least 1", name, steps);
}

void require_positive(const char* name, const char* option, double value) {
  if (!(value > 0) || !std::isfinite(value))
    fail_invalid("schedule: {} with {} = {}; it must be above 0", name, option, value);
}

void require_rate(const char* name, double rate) {
  if (!(rate >= 0) || !std::isfinite(rate))
    fail_invalid("schedule: {} with final_rate = {}; it must not be negative", name, rate);
}

// From `from` at part 0 to `to` at part 1 along half a cosine.
double half_cosine(double from, double to, double part) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

double part_done(int64_t step, int64_t steps) {
  return static_cast<double>(step) / static_cast<double>(steps);
}

}  // namespace

Schedule::Schedule() : Schedule("constant", [](double base, int64_t) { return base; }) {}

Schedule::Schedule(std::string description, Function function)
    : description_(std::move(description)), function_(std::move(function)) {
  if (!function_) fail_invalid("schedule: {} has no function", description_);
}

double Schedule::operator()(double base, int64_t step) const {
  if (step < 0) fail_invalid("schedule: step {}; steps are counted from 0", step);
  return function_(base, step);
}

Schedule Schedule::with_warmup(const WarmupOptions& options) const {
  require_steps("with_warmup", options.steps);
  if (!(options.start_factor >= 0 && options.start_factor <= 1))
    fail_invalid("schedule: with_warmup with start_factor = {}; it must be in [0, 1]",
                 options.start_factor);
  return Schedule(fmt::format("{} after warm-up(steps={}, start_factor={})", description_,
                              options.steps, options.start_factor),
                  [after = function_, options](double base, int64_t step) {
                    if (step >= options.steps) return after(base, step - options.steps);
                    const double f = options.start_factor;
                    return after(base, 0) * (f + (1 - f) * part_done(step, options.steps));
                  });
}

Schedule constant() { return {}; }

Schedule step(const StepOptions& options) {
  if (options.every < 1) fail_invalid("schedule: step with every = {}; at least 1", options.every);
  require_positive("step", "factor", options.factor);
  return Schedule(fmt::format("step(every={}, factor={})", options.every, options.factor),
                  [options](double base, int64_t step) {
                    const int64_t changes = step / options.every;
                    return base * std::pow(options.factor, static_cast<double>(changes));
                  });
}

Schedule multi_step(const MultiStepOptions& options) {
  require_positive("multi_step", "factor", options.factor);
  if (!std::is_sorted(options.at.begin(), options.at.end()))
    fail_invalid("schedule: multi_step at [{}]; the steps must rise", fmt::join(options.at, ", "));
  return Schedule(
      fmt::format("multi_step(at=[{}], factor={})", fmt::join(options.at, ", "), options.factor),
      [options](double base, int64_t step) {
        const auto passed = std::upper_bound(options.at.begin(), options.at.end(), step);
        const auto changes = static_cast<double>(passed - options.at.begin());
        return base * std::pow(options.factor, changes);
      });
}

Schedule polynomial(const PolynomialOptions& options) {
  require_steps("polynomial", options.steps);
  require_positive("polynomial", "power", options.power);
  require_rate("polynomial", options.final_rate);
  return Schedule(fmt::format("polynomial(steps={}, power={}, final_rate={})", options.steps,
                              options.power, options.final_rate),
                  [options](double base, int64_t step) {
                    if (step >= options.steps) return options.final_rate;
                    const double left = 1 - part_done(step, options.steps);
                    return options.final_rate +
                           (base - options.final_rate) * std::pow(left, options.power);
                  });
}

Schedule cosine(const CosineOptions& options) {
  require_steps("cosine", options.steps);
  require_rate("cosine", options.final_rate);
  return Schedule(fmt::format("cosine(steps={}, final_rate={})", options.steps, options.final_rate),
                  [options](double base, int64_t step) {
                    if (step >= options.steps) return options.final_rate;
                    return half_cosine(base, options.final_rate, part_done(step, options.steps));
                  });
}

Schedule one_cycle(const OneCycleOptions& options) {
  require_positive("one_cycle", "start_divisor", options.start_divisor);
  require_positive("one_cycle", "end_divisor", options.end_divisor);
  const double top = options.rise * static_cast<double>(options.steps) - 1;
  const double last = static_cast<double>(options.steps - 1);
  if (!(top > 0 && top < last))
    fail_invalid(
        "schedule: one_cycle with steps = {} and rise = {}; needs 1 < rise * steps < steps",
        options.steps, options.rise);
  return Schedule(
      fmt::format("one_cycle(steps={}, rise={}, start_divisor={}, end_divisor={})", options.steps,
                  options.rise, options.start_divisor, options.end_divisor),
      [options, top, last](double base, int64_t step) {
        const double start = base / options.start_divisor;
        const double end = start / options.end_divisor;
        const double at = std::min(static_cast<double>(step), last);
        if (at <= top) return half_cosine(start, base, at / top);
        return half_cosine(base, end, (at - top) / (last - top));
      });
}

}  // namespace thalweg::schedule
