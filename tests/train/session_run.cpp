#include "train/session_run.h"

#include <filesystem>
#include <numeric>

#include <thalweg/base/random.h>
#include <thalweg/data/memory.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/softmax.h>

namespace thalweg::train {
namespace {

constexpr int64_t kSamples = 50, kInputs = 6, kClasses = 3;

// Points around three corners.
data::Dataset corners(uint64_t seed) {
  Philox random(seed);
  std::vector<float> x;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < kSamples; ++i) {
    labels.push_back(static_cast<int64_t>(random.bounded(kClasses)));
    for (int64_t j = 0; j < kInputs; ++j)
      x.push_back(random.normal() + (j == labels.back() ? 2.f : 0.f));
  }
  return data::ArrayDataset(Tensor::of(x, {kSamples, kInputs}), Tensor::of(labels));
}

data::DataLoader train_loader(const SmallRunOptions& options) {
  if (!options.from_source)
    return data::DataLoader(corners(1),
                            {.batch_size = 8, .shuffle = true, .workers = options.workers});
  const data::Batch all = corners(1).gather([] {
    std::vector<int64_t> numbers(kSamples);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }());
  return data::DataLoader(
      data::MinibatchSource({data::MemoryDeserializer({{"data", all.data}, {"label", all.label}})},
                            {.seed = 4, .max_sweeps = 0, .workers = options.workers}),
      {.batch_size = 8});
}

Tensor loss_of(const Tensor& logits, const data::Batch& batch) {
  return softmax_cross_entropy(logits, batch.label);
}

}  // namespace

class SmallRun::Parts {
 public:
  explicit Parts(const SmallRunOptions& o)
      : random((manual_seed(5), 0)),
        train(train_loader(o)),
        test(corners(2), {.batch_size = 16}),
        net(initialized()),
        trainer(net.parameters(), optim::SGD({.learning_rate = o.learning_rate, .momentum = 0.9}),
                {.schedule = schedule::cosine({.steps = 30}), .clip_norm = o.clip_norm}),
        averager(net.parameters(), {.decay = 0.9}),
        session(net, loss_of, trainer, train, options(o)) {}

  static nn::Sequential initialized() {
    nn::Sequential net{nn::Dense(8, {.activation = nn::relu}), nn::Dropout(0.2),
                       nn::Dense(kClasses)};
    net.initialize();
    return net;
  }

  SessionOptions options(const SmallRunOptions& o) {
    SessionOptions s{.epochs = o.epochs,
                     .metrics = {metric::accuracy(), metric::confusion()},
                     .evaluation = &test,
                     .monitor = {.figure = "accuracy"},
                     .averager = &averager,
                     .log_every_steps = 1,
                     .show_progress = false};
    s.checkpoints.every_steps = 2;
    if (o.change) o.change(s);
    return s;
  }

  int random;  // the seed is set before anything draws
  data::DataLoader train, test;
  nn::Sequential net;
  Trainer trainer;
  WeightAverager averager;
  Session session;
};

SmallRun::SmallRun(const SmallRunOptions& options) : parts_(std::make_unique<Parts>(options)) {}
SmallRun::~SmallRun() = default;

Session& SmallRun::session() { return parts_->session; }
Trainer& SmallRun::trainer() { return parts_->trainer; }
nn::Module& SmallRun::net() { return parts_->net; }

SessionResult SmallRun::start(const std::string& runs) {
  session().start_run(runs, "small", "[train]\n");
  return session().run();
}

SessionResult SmallRun::go_on(const std::string& folder) {
  session().resume(folder);
  return session().run();
}

std::string only_folder(const std::string& runs) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(runs, error))
    return entry.path().string();
  return "";
}

}  // namespace thalweg::train
