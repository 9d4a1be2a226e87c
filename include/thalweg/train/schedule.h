#pragma once

// Learning rates that change in the course of training. A schedule is a pure function of the
// optimizer's learning rate, its base, and of the step, the number of updates done before: it keeps
// nothing, and may be asked for any step in any order.
//
//   Trainer trainer(net.parameters(), optim::SGD({.learning_rate = 0.1}),
//                   {.schedule = schedule::cosine({.steps = 9380}).with_warmup({.steps = 500})});

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <thalweg/base/export.h>

namespace thalweg::schedule {

struct WarmupOptions {
  int64_t steps = 0;        ///< updates before the schedule itself begins; >= 1
  double start_factor = 0;  ///< of the schedule's first rate, at step 0; in [0, 1]
};

class THALWEG_API Schedule {
 public:
  using Function = std::function<double(double base, int64_t step)>;

  /// The base at every step.
  Schedule();
  /// Any function; `description` is what describe() gives.
  Schedule(std::string description, Function function);

  /// The learning rate of update number `step`, counted from 0. Throws Error{invalid} for a
  /// negative step.
  double operator()(double base, int64_t step) const;

  /// With a linear rise before it: r * (f + (1 - f) * step / steps) for step < steps, f being
  /// start_factor and r this schedule's rate at step 0; from step = `steps` on, this schedule
  /// counted from there. (MXNet's linear warm-up; PyTorch's LinearLR followed by the schedule.)
  Schedule with_warmup(const WarmupOptions& options) const;

  /// "cosine(steps=9380, final_rate=0)".
  const std::string& describe() const { return description_; }

 private:
  std::string description_;
  Function function_;
};

/// The base at every step.
THALWEG_API Schedule constant();

struct StepOptions {
  int64_t every = 1;    ///< updates between two changes; >= 1
  double factor = 0.1;  ///< of each change; > 0
};
/// base * factor^floor(step / every): update `every` is the first with the second rate. (PyTorch's
/// StepLR.)
THALWEG_API Schedule step(const StepOptions& options);

struct MultiStepOptions {
  std::vector<int64_t> at = {};  ///< updates that are the first with a new rate; rising
  double factor = 0.1;           ///< of each change; > 0
};
/// base * factor^n, where n is how many of `at` are <= step. (PyTorch's MultiStepLR.)
THALWEG_API Schedule multi_step(const MultiStepOptions& options);

struct PolynomialOptions {
  int64_t steps = 1;      ///< updates until final_rate; >= 1
  double power = 1;       ///< > 0
  double final_rate = 0;  ///< at step = `steps` and after
};
/// final_rate + (base - final_rate) * (1 - step / steps)^power. (PyTorch's PolynomialLR, MXNet's
/// PolyScheduler.)
THALWEG_API Schedule polynomial(const PolynomialOptions& options);

struct CosineOptions {
  int64_t steps = 1;      ///< updates until final_rate; >= 1
  double final_rate = 0;  ///< at step = `steps` and after
};
/// final_rate + (base - final_rate) * (1 + cos(pi * step / steps)) / 2. (Loshchilov and Hutter 2017
/// without restarts; MXNet's CosineScheduler.)
THALWEG_API Schedule cosine(const CosineOptions& options);

struct OneCycleOptions {
  int64_t steps = 2;          ///< updates of the cycle; the last, steps - 1, has the lowest rate
  double rise = 0.3;          ///< part of the cycle that rises; in (0, 1)
  double start_divisor = 25;  ///< base / this is the rate at step 0
  double end_divisor = 1e4;   ///< the rate at step 0 / this is that at steps - 1 and after
};
/// Rises along a half cosine from base / start_divisor at step 0 to the base at step t = rise *
/// steps - 1 (which need not be whole), and falls along another to the end at steps - 1. (Smith and
/// Topin 2018, in the form of PyTorch's OneCycleLR; the momentum stays.) Needs rise * steps > 1.
THALWEG_API Schedule one_cycle(const OneCycleOptions& options);

}  // namespace thalweg::schedule
