#include <array>

#include <fmt/format.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/train/evaluate.h>
#include <thalweg/train/session.h>

namespace thalweg::train {

StepFunction eager_step(nn::Module& net, LossFunction loss, Trainer& trainer) {
  return [&net, loss = std::move(loss), &trainer](const data::Batch& batch) {
    StepOutcome outcome;
    {
      const Record record;
      outcome.output = output_of(net, batch);
      outcome.loss = loss(outcome.output, batch);
    }
    outcome.loss.backward();
    // A loss without dimensions is the mean already.
    outcome.updated = trainer.step(outcome.loss.dims() == 0 ? 1 : batch.size);
    return outcome;
  };
}

class PlannedStep::State {
 public:
  State(nn::Module& net, LossFunction loss, Trainer& trainer, const PlanOptions& options)
      : trainer_(trainer),
        step_(eager_step(net, std::move(loss), trainer)),
        planned_(
            [this](const std::vector<Tensor>&, int64_t) {
              StepOutcome outcome = step_(*batch_);
              return std::array{std::move(outcome.loss), std::move(outcome.output)};
            },
            options) {}

  StepOutcome run(const data::Batch& batch) {
    if (batch.sparse.defined()) {
      ++sparse_batches_;
      return step_(batch);
    }
    batch_ = &batch;
    fields_.assign({batch.data, batch.label});
    for (size_t i = 2; i < batch.fields().size(); ++i) fields_.push_back(batch[i]);
    const int64_t skipped = trainer_.skipped();
    auto [loss, output] = planned_(fields_, batch.size);
    fields_.clear();
    return {std::move(loss), std::move(output), trainer_.skipped() == skipped};
  }
  std::string explain() const {
    std::string text = planned_.explain();
    if (sparse_batches_ > 0)
      text += fmt::format(
          "eager: {} sparse batches; how much they store, and which rows of weights they change, "
          "differs from batch to batch\n",
          sparse_batches_);
    return text;
  }
  Diagram diagram() const { return planned_.diagram(); }

 private:
  using Function = std::function<std::array<Tensor, 2>(const std::vector<Tensor>&, int64_t)>;

  Trainer& trainer_;
  StepFunction step_;
  Planned<Function> planned_;
  const data::Batch* batch_ = nullptr;
  int64_t sparse_batches_ = 0;
  std::vector<Tensor> fields_;  // of the batch, kept for its memory
};

PlannedStep::PlannedStep(nn::Module& net, LossFunction loss, Trainer& trainer)
    : PlannedStep(net, std::move(loss), trainer, {}) {}
PlannedStep::PlannedStep(nn::Module& net, LossFunction loss, Trainer& trainer,
                         const PlanOptions& options)
    : state_(std::make_shared<State>(net, std::move(loss), trainer, options)) {}

StepOutcome PlannedStep::operator()(const data::Batch& batch) const { return state_->run(batch); }

std::string PlannedStep::explain() const { return state_->explain(); }

Diagram PlannedStep::diagram() const { return state_->diagram(); }

}  // namespace thalweg::train
