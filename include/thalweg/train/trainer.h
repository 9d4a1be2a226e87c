#pragma once

// Applies an optimizer to the parameters of a net.
//
//   Trainer trainer(net.parameters(), optim::SGD({.learning_rate = 0.1, .momentum = 0.9}));
//   ...
//   loss.backward();             // loss holds one value per sample
//   trainer.step(batch.size);    // divides by it

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <thalweg/nn/parameter.h>
#include <thalweg/train/optimizer.h>
#include <thalweg/train/schedule.h>

namespace thalweg::train {

class Checkpoint;

/// Parameters and how they are changed.
struct ParameterGroup {
  nn::ParameterList parameters;
  optim::Optimizer optimizer;
};

/// What to do with gradients that are infinite or not numbers.
enum class NonFinite : uint8_t {
  error,  ///< throw Error{invalid} that names the first such parameter; nothing was changed
  skip    ///< leave everything as it is and count the step as skipped
};

struct TrainerOptions {
  schedule::Schedule schedule = {};
  /// Holds each element of the gradient, after division by the batch size, in [-clip_value,
  /// clip_value].
  std::optional<double> clip_value = {};
  /// Scales all gradients down together so that the norm over all parameters, after division by the
  /// batch size, is at most this. Not with clip_value.
  std::optional<double> clip_norm = {};
  /// `error` is found out only where clip_norm needs the norm; `skip` is looked for at every step.
  NonFinite non_finite = NonFinite::error;
};

struct StepOptions {
  /// Leave out parameters without a new gradient, instead of an error.
  bool ignore_stale_grad = false;
};

class THALWEG_API Trainer {
 public:
  /// Parameters whose GradReq is null are left alone, as long as it is. Throws Error{invalid} for
  /// options that do not fit.
  Trainer(const nn::ParameterList& parameters, const optim::Optimizer& optimizer,
          const TrainerOptions& options = {});
  /// Groups share no parameter.
  explicit Trainer(std::vector<ParameterGroup> groups, const TrainerOptions& options = {});
  ~Trainer();
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;

  /// One update of all parameters: gradients are divided by `batch_size` and clipped. False if it
  /// was skipped (NonFinite::skip). Throws Error{invalid}, before anything is changed, if a
  /// parameter has no values yet, or no gradient that is newer than the last step ("stale": it was
  /// not part of the loss).
  bool step(int64_t batch_size, const StepOptions& options = {});

  /// Updates done, the schedule's step.
  int64_t steps() const;
  /// Steps that were skipped.
  int64_t skipped() const;
  /// The norm of all gradients at the last step, before clipping; NaN if it was not needed.
  double gradient_norm() const;

  /// The rate of the next update of a group, by the schedule.
  double learning_rate(size_t group = 0) const;
  /// A new base for the schedule, for all groups or one.
  void set_learning_rate(double base);
  void set_learning_rate(double base, size_t group);

  const nn::ParameterList& parameters() const;
  /// The name of the first parameter, in order, whose gradient is not finite; "" if there is none.
  std::string first_non_finite_gradient() const;
  /// "SGD(learning_rate=0.1), cosine(steps=9380)".
  std::string describe() const;

  /// Puts states and counts into the parts "trainer/..." of a checkpoint; the weights are not among
  /// them.
  void save(Checkpoint& checkpoint) const;
  /// Throws Error{io} for a part that is missing or does not fit a parameter; nothing was changed
  /// then.
  void restore(const Checkpoint& checkpoint);
  /// The same as a file of its own.
  void save_states(const std::string& path) const;
  void load_states(const std::string& path);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::train
