#include <cmath>

#include "base/fail.h"
#include "train/optimizer_rule.h"

namespace thalweg::optim {
namespace {

void require(const char* rule, const char* option, double value, double low, double high) {
  if (value >= low && value <= high && std::isfinite(value)) return;
  if (std::isinf(high))
    fail_invalid("{}: {} is {}; it must be finite and not below {}", rule, option, value, low);
  fail_invalid("{}: {} is {}; it must be in [{}, {}]", rule, option, value, low, high);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void require_rates(const char* rule, double learning_rate, double weight_decay) {
  require(rule, "learning_rate", learning_rate, 0, kInfinity);
  require(rule, "weight_decay", weight_decay, 0, kInfinity);
}

// "SGD(learning_rate=0.1, momentum=0.9)": the rate, and what differs from the defaults.
class Description {
 public:
  Description(const char* rule, double learning_rate)
      : text_(fmt::format("{}(learning_rate={}", rule, learning_rate)) {}

  template <typename T>
  Description& operator()(const char* option, const T& value, const T& usual) {
    if (value != usual) text_ += fmt::format(", {}={}", option, value);
    return *this;
  }
  std::string text() const { return text_ + ")"; }

 private:
  std::string text_;
};

GradientNumbers gradient_numbers(const UpdateSettings& s, double weight_decay) {
  return {s.scale, s.clip, weight_decay * s.decay_factor};
}

/// What the rules have in common: options, a struct of numbers and the row's attributes.
template <typename Options, typename Numbers, typename Attrs>
class RowRule : public Rule {
 public:
  RowRule(const Options& options, const Op& row, Attrs attrs)
      : options_(options), row_(row), attrs_(attrs) {}

  double learning_rate() const override { return options_.learning_rate; }
  size_t columns() const override { return sizeof(Numbers) / sizeof(double); }
  void fill(const UpdateSettings& settings, double* numbers) const override {
    *reinterpret_cast<Numbers*>(numbers) = numbers_of(settings);
  }
  void run(int64_t tensors, std::span<const TensorImpl* const> inputs,
           std::span<TensorImpl* const> outputs) const override {
    Attrs attrs = attrs_;
    attrs.tensors = tensors;
    run_update(row_, &attrs, inputs, outputs);
  }
  void check(int64_t tensors, std::span<const TensorImpl* const> inputs) const override {
    Attrs attrs = attrs_;
    attrs.tensors = tensors;
    check_update(row_, &attrs, inputs);
  }

 protected:
  virtual Numbers numbers_of(const UpdateSettings& settings) const = 0;

  const Options options_;

 private:
  const Op& row_;
  const Attrs attrs_;
};

// --- SGD ---
class SgdRule final : public RowRule<SGDOptions, SgdNumbers, SgdAttrs> {
 public:
  explicit SgdRule(const SGDOptions& o)
      : RowRule(o, sgd_update_op(), {.momentum = o.momentum != 0}) {
    require_rates("SGD", o.learning_rate, o.weight_decay);
    require("SGD", "momentum", o.momentum, 0, 1);
    require("SGD", "dampening", o.dampening, 0, 1);
    if (o.nesterov && (o.momentum == 0 || o.dampening != 0))
      fail_invalid(
          "SGD: nesterov with momentum {} and dampening {}; it needs a momentum and no "
          "dampening",
          o.momentum, o.dampening);
  }
  std::string describe() const override {
    const SGDOptions usual;
    return Description("SGD", options_.learning_rate)(
               "momentum", options_.momentum, usual.momentum)("dampening", options_.dampening,
                                                              usual.dampening)(
               "nesterov", options_.nesterov, usual.nesterov)("weight_decay", options_.weight_decay,
                                                              usual.weight_decay)(
               "maximize", options_.maximize, usual.maximize)
        .text();
  }
  std::span<const char* const> states() const override {
    static constexpr const char* names[] = {"momentum"};
    return std::span(names).first(options_.momentum != 0);
  }

 private:
  SgdNumbers numbers_of(const UpdateSettings& s) const override {
    SgdNumbers n{gradient_numbers(s, options_.weight_decay), s.learning_rate};
    if (options_.maximize) n.gradient.scale = -n.gradient.scale;
    n.momentum = options_.momentum;
    n.mix = s.updates == 0 ? 1 : 1 - options_.dampening;
    if (options_.nesterov) {
      n.from_gradient = 1;
      n.from_momentum = options_.momentum;
    }
    return n;
  }
};

// --- Adam and AdamW ---
struct AdamRuleOptions : AdamOptions {
  bool decoupled = false;
};

class AdamRule final : public RowRule<AdamRuleOptions, AdamNumbers, AdamAttrs> {
 public:
  explicit AdamRule(const AdamRuleOptions& o) : RowRule(o, adam_update_op(), {}) {
    require_rates(title(), o.learning_rate, o.weight_decay);
    require(title(), "beta1", o.beta1, 0, std::nextafter(1.0, 0.0));
    require(title(), "beta2", o.beta2, 0, std::nextafter(1.0, 0.0));
    require(title(), "epsilon", o.epsilon, 0, kInfinity);
  }
  std::string describe() const override {
    const AdamOptions usual;
    const double usual_decay = options_.decoupled ? AdamWOptions{}.weight_decay : 0;
    return Description(title(), options_.learning_rate)("beta1", options_.beta1, usual.beta1)(
               "beta2", options_.beta2, usual.beta2)("epsilon", options_.epsilon, usual.epsilon)(
               "weight_decay", options_.weight_decay, usual_decay)
        .text();
  }
  std::span<const char* const> states() const override {
    static constexpr const char* names[] = {"mean", "square_mean"};
    return names;
  }

 private:
  const char* title() const { return options_.decoupled ? "AdamW" : "Adam"; }

  AdamNumbers numbers_of(const UpdateSettings& s) const override {
    const auto t = static_cast<double>(s.updates + 1);
    const double decay = options_.weight_decay * s.decay_factor;
    AdamNumbers n{gradient_numbers(s, options_.decoupled ? 0 : options_.weight_decay)};
    if (options_.decoupled) n.keep = 1 - s.learning_rate * decay;
    n.beta1 = options_.beta1;
    n.beta2 = options_.beta2;
    n.rate = s.learning_rate / (1 - std::pow(options_.beta1, t));
    n.root_factor = 1 / std::sqrt(1 - std::pow(options_.beta2, t));
    n.epsilon = options_.epsilon;
    return n;
  }
};

// --- RMSProp ---
class RmsPropRule final : public RowRule<RMSPropOptions, RmsPropNumbers, RmsPropAttrs> {
 public:
  explicit RmsPropRule(const RMSPropOptions& o)
      : RowRule(o, rmsprop_update_op(), {.centered = o.centered, .momentum = o.momentum != 0}) {
    require_rates("RMSProp", o.learning_rate, o.weight_decay);
    require("RMSProp", "alpha", o.alpha, 0, 1);
    require("RMSProp", "epsilon", o.epsilon, 0, kInfinity);
    require("RMSProp", "momentum", o.momentum, 0, 1);
    names_[count_++] = "square_mean";
    if (o.centered) names_[count_++] = "mean";
    if (o.momentum != 0) names_[count_++] = "momentum";
  }
  std::string describe() const override {
    const RMSPropOptions usual;
    return Description("RMSProp", options_.learning_rate)("alpha", options_.alpha, usual.alpha)(
               "epsilon", options_.epsilon, usual.epsilon)("momentum", options_.momentum,
                                                           usual.momentum)(
               "centered", options_.centered, usual.centered)("weight_decay", options_.weight_decay,
                                                              usual.weight_decay)
        .text();
  }
  std::span<const char* const> states() const override { return std::span(names_).first(count_); }

 private:
  RmsPropNumbers numbers_of(const UpdateSettings& s) const override {
    return {gradient_numbers(s, options_.weight_decay), s.learning_rate, options_.alpha,
            options_.epsilon, options_.momentum};
  }

  const char* names_[3] = {};
  size_t count_ = 0;
};

// --- AdaGrad ---
class AdaGradRule final : public RowRule<AdaGradOptions, AdaGradNumbers, AdaGradAttrs> {
 public:
  explicit AdaGradRule(const AdaGradOptions& o) : RowRule(o, adagrad_update_op(), {}) {
    require_rates("AdaGrad", o.learning_rate, o.weight_decay);
    require("AdaGrad", "rate_decay", o.rate_decay, 0, kInfinity);
    require("AdaGrad", "initial_sum", o.initial_sum, 0, kInfinity);
    require("AdaGrad", "epsilon", o.epsilon, 0, kInfinity);
  }
  std::string describe() const override {
    const AdaGradOptions usual;
    return Description("AdaGrad", options_.learning_rate)("rate_decay", options_.rate_decay,
                                                          usual.rate_decay)(
               "initial_sum", options_.initial_sum, usual.initial_sum)(
               "epsilon", options_.epsilon, usual.epsilon)("weight_decay", options_.weight_decay,
                                                           usual.weight_decay)
        .text();
  }
  std::span<const char* const> states() const override {
    static constexpr const char* names[] = {"square_sum"};
    return names;
  }
  double initial(size_t) const override { return options_.initial_sum; }

 private:
  AdaGradNumbers numbers_of(const UpdateSettings& s) const override {
    const double rate =
        s.learning_rate / (1 + static_cast<double>(s.updates) * options_.rate_decay);
    return {gradient_numbers(s, options_.weight_decay), rate, options_.epsilon};
  }
};

AdamRuleOptions decoupled(const AdamWOptions& o) {
  return {{o.learning_rate, o.beta1, o.beta2, o.epsilon, o.weight_decay}, true};
}

}  // namespace

double Optimizer::learning_rate() const { return rule_->learning_rate(); }
std::string Optimizer::describe() const { return rule_->describe(); }

SGD::SGD(const SGDOptions& options) : Optimizer(std::make_shared<SgdRule>(options)) {}
Adam::Adam(const AdamOptions& options)
    : Optimizer(std::make_shared<AdamRule>(AdamRuleOptions{options, false})) {}
AdamW::AdamW(const AdamWOptions& options)
    : Optimizer(std::make_shared<AdamRule>(decoupled(options))) {}
RMSProp::RMSProp(const RMSPropOptions& options)
    : Optimizer(std::make_shared<RmsPropRule>(options)) {}
AdaGrad::AdaGrad(const AdaGradOptions& options)
    : Optimizer(std::make_shared<AdaGradRule>(options)) {}

}  // namespace thalweg::optim
