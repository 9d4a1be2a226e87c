#pragma once

// Rules by which weights follow their gradients. An optimizer is a rule with its options and
// nothing else; a Trainer applies it and keeps the states. All formulas are those of PyTorch's
// torch.optim; w is a weight, g its gradient (after rescaling and clipping), t = 1, 2, ... the
// weight's own count of updates. The learning rate is the schedule's times the parameter's lr_mult,
// the weight decay the option times its wd_mult.

#include <memory>
#include <string>

#include <thalweg/base/export.h>

namespace thalweg::optim {

class Rule;

/// A handle: copies are the same rule.
class THALWEG_API Optimizer {
 public:
  double learning_rate() const;
  /// "SGD(learning_rate=0.1, momentum=0.9)": the options that are not the defaults.
  std::string describe() const;
  const Rule& rule() const { return *rule_; }

 protected:
  explicit Optimizer(std::shared_ptr<const Rule> rule) : rule_(std::move(rule)) {}

 private:
  std::shared_ptr<const Rule> rule_;
};

struct SGDOptions {
  double learning_rate = 0.01;
  double momentum = 0;      ///< in [0, 1]
  double dampening = 0;     ///< of gradients that enter the momentum after the first
  bool nesterov = false;    ///< needs a momentum and no dampening
  double weight_decay = 0;  ///< added to g as weight_decay * w, with and without momentum
  bool maximize = false;    ///< climbs: -g takes the place of g (before the decay)
};

/// w <- w - learning_rate * d. Without momentum d = g + weight_decay * w. With it, g' being that
/// sum: m <- g' at the first update, then m <- momentum * m + (1 - dampening) * g'; d = m, or g' +
/// momentum * m for Nesterov.
class THALWEG_API SGD : public Optimizer {
 public:
  explicit SGD(const SGDOptions& options = {});
};

struct AdamOptions {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  ///< added to g as weight_decay * w
};

/// m <- beta1 * m + (1 - beta1) * g; v <- beta2 * v + (1 - beta2) * g^2;
/// w <- w - learning_rate * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon). (Kingma and
/// Ba 2015.)
class THALWEG_API Adam : public Optimizer {
 public:
  explicit Adam(const AdamOptions& options = {});
};

struct AdamWOptions {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;  ///< w <- w * (1 - learning_rate * weight_decay) before the update
};

/// Adam with the decay apart from the gradient. (Loshchilov and Hutter 2019.)
class THALWEG_API AdamW : public Optimizer {
 public:
  explicit AdamW(const AdamWOptions& options = {});
};

struct RMSPropOptions {
  double learning_rate = 0.01;
  double alpha = 0.99;  ///< how much of the mean square stays
  double epsilon = 1e-8;
  double momentum = 0;
  bool centered = false;    ///< divide by the deviation in place of the root mean square
  double weight_decay = 0;  ///< added to g as weight_decay * w
};

/// v <- alpha * v + (1 - alpha) * g^2; d = g / (sqrt(v) + epsilon), v - a^2 in place of v if
/// centered, a being the mean of g likewise; b <- momentum * b + d if there is momentum; w <- w -
/// learning_rate * d (or b). (Hinton's lecture 6e; Graves 2013 for the centered form.)
class THALWEG_API RMSProp : public Optimizer {
 public:
  explicit RMSProp(const RMSPropOptions& options = {});
};

struct AdaGradOptions {
  double learning_rate = 0.01;
  double rate_decay = 0;   ///< the rate of update t is learning_rate / (1 + (t - 1) * rate_decay)
  double initial_sum = 0;  ///< of squares, before the first update
  double epsilon = 1e-10;
  double weight_decay = 0;  ///< added to g as weight_decay * w
};

/// s <- s + g^2; w <- w - rate * g / (sqrt(s) + epsilon). (Duchi, Hazan and Singer 2011.)
class THALWEG_API AdaGrad : public Optimizer {
 public:
  explicit AdaGrad(const AdaGradOptions& options = {});
};

}  // namespace thalweg::optim
