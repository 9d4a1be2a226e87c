#pragma once

#include <span>
#include <string>
#include <type_traits>

#include <thalweg/ops/optimizer.h>
#include <thalweg/train/optimizer.h>

namespace thalweg::optim {

/// What changes from update to update, and from weight to weight.
struct UpdateSettings {
  double learning_rate = 0;  // scheduled, times the parameter's factor
  double decay_factor = 1;   // of the rule's weight decay
  double scale = 1;          // of the gradient
  double clip = std::numeric_limits<double>::infinity();
  int64_t updates = 0;  // of this weight before

  friend bool operator==(const UpdateSettings&, const UpdateSettings&) = default;
};

/// An optimizer as a row of the op table and the numbers that it wants.
class Rule {
 public:
  virtual ~Rule() = default;

  virtual double learning_rate() const = 0;
  virtual std::string describe() const = 0;
  /// Names of the states, in the row's order.
  virtual std::span<const char* const> states() const = 0;
  /// Of all elements of state `i` before the first update.
  virtual double initial(size_t) const { return 0; }
  /// How many numbers a weight's update takes.
  virtual size_t columns() const = 0;
  virtual void fill(const UpdateSettings& settings, double* numbers) const = 0;
  /// Runs the row on `tensors` weights.
  virtual void run(int64_t tensors, std::span<const TensorImpl* const> inputs,
                   std::span<TensorImpl* const> outputs) const = 0;
  virtual void check(int64_t tensors, std::span<const TensorImpl* const> inputs) const = 0;
};

}  // namespace thalweg::optim
