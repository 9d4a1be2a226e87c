#include <algorithm>
#include <cmath>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/call.h>
#include <thalweg/ops/optimizer.h>
#include <thalweg/train/checkpoint.h>
#include <thalweg/train/trainer.h>

#include "base/fail.h"
#include "train/group_update.h"

namespace thalweg::train {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void require_limit(const char* option, const std::optional<double>& value) {
  if (value && !(*value >= 0))
    fail_invalid("trainer: {} is {}; it must not be negative", option, *value);
}

void check_options(const TrainerOptions& options) {
  require_limit("clip_value", options.clip_value);
  require_limit("clip_norm", options.clip_norm);
  if (options.clip_value && options.clip_norm)
    fail_invalid("trainer: clip_value {} and clip_norm {}; choose one", *options.clip_value,
                 *options.clip_norm);
}

double read_scalar(const Tensor& t) { return t.to(Device::cpu()).item<double>(); }

}  // namespace

class Trainer::State {
 public:
  State(std::vector<ParameterGroup> parameter_groups, const TrainerOptions& options)
      : options(options), norm_(Tensor::zeros({}, {.dtype = DType::f64})) {
    check_options(options);
    for (const ParameterGroup& group : parameter_groups) add(group);
    if (all.empty()) fail_invalid("trainer: there are no parameters");
    gradients_.reserve(all.size());
  }

  bool step(int64_t batch_size, const StepOptions& step_options);
  std::string first_non_finite(bool only_active) const;

  GroupUpdate& group(size_t i) {
    if (i >= groups.size())
      fail_invalid("trainer: no parameter group {}; there are {}", i, groups.size());
    return groups[i];
  }

  TrainerOptions options;
  std::vector<GroupUpdate> groups;
  nn::ParameterList all;
  int64_t steps = 0;
  int64_t skipped = 0;
  double last_norm = kNaN;

 private:
  void add(const ParameterGroup& group);
  bool traced_step(int64_t batch_size, const StepOptions& step_options);
  void gather(bool ignore_stale);
  bool has_rows() const;
  bool needs_norm() const { return options.clip_norm || options.non_finite == NonFinite::skip; }
  void run_norm();
  bool prepare(int64_t batch_size);

  std::vector<const TensorImpl*> gradients_;  // of all groups
  Tensor norm_;
};

void Trainer::State::add(const ParameterGroup& group) {
  std::vector<nn::NamedParameter> everything(all.begin(), all.end());
  for (const nn::NamedParameter& item : group.parameters) {
    for (const nn::NamedParameter& other : all) {
      if (other.parameter == item.parameter)
        fail_invalid("trainer: {} is in two groups, also as {}; groups must not share a parameter",
                     item.name, other.name);
      if (other.name == item.name)
        fail_invalid("trainer: two parameters are called {}; put the nets into one module",
                     item.name);
    }
    everything.push_back(item);
  }
  groups.emplace_back(group.parameters, group.optimizer);
  all = nn::ParameterList(std::move(everything));
}

void Trainer::State::gather(bool ignore_stale) {
  bool any = false;
  for (GroupUpdate& g : groups) {
    g.gather(ignore_stale);
    any = any || !g.gradients().empty();
  }
  if (!any && !ignore_stale)
    fail_invalid("trainer: every parameter's GradReq is null; unfreeze() what is to be trained");
}

bool Trainer::State::has_rows() const {
  return std::ranges::any_of(groups, [](const GroupUpdate& g) { return g.has_rows(); });
}

void Trainer::State::run_norm() {
  gradients_.clear();
  for (const GroupUpdate& g : groups)
    gradients_.insert(gradients_.end(), g.gradients().begin(), g.gradients().end());
  if (gradients_.empty()) return;
  const Device device = gradients_[0]->meta.device;
  if (norm_.device() != device) norm_ = norm_.to(device);
  const NoAttrs none;
  TensorImpl* const out[] = {norm_.impl()};
  run_update(global_norm_op(), &none, gradients_, out);
}

bool Trainer::State::step(int64_t batch_size, const StepOptions& step_options) {
  if (batch_size < 1) fail_invalid("trainer: step({}); a batch has a sample at least", batch_size);
  if (thread_mode().tracer) return traced_step(batch_size, step_options);
  gather(step_options.ignore_stale_grad);
  if (needs_norm()) run_norm();
  if (!prepare(batch_size)) return false;
  for (GroupUpdate& g : groups) {
    if (!g.gradients().empty()) g.run();
  }
  return true;
}

// The same, and tells the trace what the host does in between: who takes part is found out, and the
// numbers are filled in, at each replay.
bool Trainer::State::traced_step(int64_t batch_size, const StepOptions& step_options) {
  Tracer& tracer = *std::exchange(thread_mode().tracer, nullptr);
  struct Restore {
    Tracer* tracer;
    HostObserver* observer;
    ~Restore() {
      thread_mode().tracer = tracer;
      set_host_observer(observer);
    }
  } const restore{&tracer, set_host_observer(nullptr)};
  if (step_options.ignore_stale_grad)
    tracer.refuse("trainer.step() with ignore_stale_grad: the host decides who takes part");
  const auto traced = [&](auto&& run) {
    thread_mode().tracer = &tracer;
    run();
    thread_mode().tracer = nullptr;
  };
  tracer.host({"trainer.step: gather",
               [](void* state, int64_t) {
                 for (const GroupUpdate& g : static_cast<State*>(state)->groups) g.make_dense();
                 static_cast<State*>(state)->gather(false);
                 return true;
               },
               this});
  gather(step_options.ignore_stale_grad);
  if (has_rows())
    tracer.refuse("trainer.step(): a gradient is row-sparse; which rows there are depends on data");
  if (needs_norm()) traced([&] { run_norm(); });
  tracer.host({"trainer.step: numbers of the update",
               [](void* state, int64_t batch_size) {
                 return static_cast<State*>(state)->prepare(batch_size);
               },
               this, batch_size});
  const bool updates = prepare(batch_size);
  if (!updates) tracer.refuse("trainer.step() was skipped");
  for (GroupUpdate& g : groups) {
    if (updates && !g.gradients().empty()) traced([&] { g.run(); });
  }
  tracer.end_host();
  return updates;
}

// Settles what the update of this step is; false if it is skipped.
bool Trainer::State::prepare(int64_t batch_size) {
  optim::UpdateSettings settings;
  settings.scale = 1 / static_cast<double>(batch_size);
  if (options.clip_value) settings.clip = *options.clip_value;
  last_norm = kNaN;
  if (needs_norm()) {
    last_norm = (gradients_.empty() ? 0 : read_scalar(norm_)) * settings.scale;
    if (!std::isfinite(last_norm)) {
      if (options.non_finite == NonFinite::skip) {
        ++skipped;
        return false;
      }
      fail_invalid(
          "trainer: the norm of the gradients is {} at step {}; the first parameter with "
          "such a gradient is {}; weights are unchanged",
          last_norm, steps + 1, first_non_finite(true));
    }
    if (options.clip_norm && last_norm > *options.clip_norm)
      settings.scale *= *options.clip_norm / last_norm;
  }
  for (GroupUpdate& g : groups) {
    if (g.gradients().empty()) continue;
    settings.learning_rate = options.schedule(g.base_rate, steps);
    g.prepare(settings);
  }
  ++steps;
  return true;
}

std::string Trainer::State::first_non_finite(bool only_active) const {
  const NoAttrs none;
  for (const nn::NamedParameter& item : all) {
    const nn::Parameter& p = item.parameter;
    if (p.grad_req() == GradReq::null || (!only_active && !p.has_data())) continue;
    const std::optional<RowGradient> some = row_gradient(p.data());
    const Tensor g = some ? some->rows : p.grad();
    const Tensor norm = Tensor::zeros({}, {DType::f64, g.device()});
    const TensorImpl* const in[] = {g.impl()};
    TensorImpl* const out[] = {norm.impl()};
    run_update(global_norm_op(), &none, in, out);
    if (!std::isfinite(read_scalar(norm))) return item.name;
  }
  return {};
}

Trainer::Trainer(const nn::ParameterList& parameters, const optim::Optimizer& optimizer,
                 const TrainerOptions& options)
    : Trainer({{parameters, optimizer}}, options) {}
Trainer::Trainer(std::vector<ParameterGroup> groups, const TrainerOptions& options)
    : state_(std::make_unique<State>(std::move(groups), options)) {}
Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;

bool Trainer::step(int64_t batch_size, const StepOptions& options) {
  return state_->step(batch_size, options);
}

int64_t Trainer::steps() const { return state_->steps; }
int64_t Trainer::skipped() const { return state_->skipped; }
double Trainer::gradient_norm() const { return state_->last_norm; }

double Trainer::learning_rate(size_t group) const {
  return state_->options.schedule(state_->group(group).base_rate, state_->steps);
}

void Trainer::set_learning_rate(double base) {
  for (size_t i = 0; i < state_->groups.size(); ++i) set_learning_rate(base, i);
}

void Trainer::set_learning_rate(double base, size_t group) {
  if (!(base >= 0) || !std::isfinite(base))
    fail_invalid("trainer: learning rate {}; it must not be negative", base);
  state_->group(group).base_rate = base;
}

const nn::ParameterList& Trainer::parameters() const { return state_->all; }

std::string Trainer::first_non_finite_gradient() const { return state_->first_non_finite(false); }

std::string Trainer::describe() const {
  std::string text;
  for (const GroupUpdate& g : state_->groups) text += g.optimizer().describe() + ", ";
  return text + state_->options.schedule.describe();
}

// --- checkpoints ---

void Trainer::save(Checkpoint& checkpoint) const {
  checkpoint.put("trainer/steps", state_->steps);
  checkpoint.put("trainer/skipped", state_->skipped);
  for (size_t g = 0; g < state_->groups.size(); ++g) {
    const GroupUpdate& group = state_->groups[g];
    checkpoint.put(fmt::format("trainer/learning_rate/{}", g), group.base_rate);
    for (const GroupUpdate::Slot& slot : group.slots()) {
      checkpoint.put("trainer/updates/" + slot.name, slot.updates);
      for (size_t s = 0; s < slot.states.size(); ++s)
        checkpoint.put(fmt::format("trainer/{}/{}", group.rule().states()[s], slot.name),
                       slot.states[s]);
    }
  }
}

namespace {

// A state as it was saved, with memory of its own.
Tensor saved_state(const Checkpoint& checkpoint, const std::string& part,
                   const nn::Parameter& parameter) {
  const Tensor& saved = checkpoint.tensor(part);
  const DType dtype = parameter.dtype() == DType::f64 ? DType::f64 : DType::f32;
  if (saved.dtype() != dtype || (parameter.has_data() && saved.shape() != parameter.shape()))
    fail_io("checkpoint: {} in {} is {} {}; the parameter wants {} {}", part, checkpoint.path(),
            name(saved.dtype()), to_string(saved.shape()), name(dtype),
            to_string(parameter.shape()));
  return parameter.has_data() ? saved.to(parameter.device()).clone() : saved.clone();
}

}  // namespace

void Trainer::restore(const Checkpoint& checkpoint) {
  std::vector<GroupUpdate> restored = state_->groups;
  const int64_t steps = checkpoint.integer("trainer/steps");
  const int64_t skipped = checkpoint.integer("trainer/skipped");
  for (size_t g = 0; g < restored.size(); ++g) {
    GroupUpdate& group = restored[g];
    group.forget();
    group.base_rate = checkpoint.number(fmt::format("trainer/learning_rate/{}", g));
    for (GroupUpdate::Slot& slot : group.slots()) {
      slot.updates = checkpoint.integer("trainer/updates/" + slot.name);
      slot.states.clear();
      if (slot.updates == 0) continue;
      for (const char* state : group.rule().states())
        slot.states.push_back(saved_state(
            checkpoint, fmt::format("trainer/{}/{}", state, slot.name), slot.parameter));
    }
  }
  state_->groups = std::move(restored);
  state_->steps = steps;
  state_->skipped = skipped;
}

void Trainer::save_states(const std::string& path) const {
  Checkpoint checkpoint;
  save(checkpoint);
  checkpoint.write(path);
}

void Trainer::load_states(const std::string& path) { restore(Checkpoint::read(path)); }

}  // namespace thalweg::train
