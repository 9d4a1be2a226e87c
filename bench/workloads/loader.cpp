#include <thalweg/base/clock.h>
#include <thalweg/thalweg.h>

#include "bench/workloads/workload.h"

namespace thalweg::bench {
namespace {

constexpr int64_t kSamples = 60000;
constexpr int64_t kWidth = 784;

// One pass; every sample must come once, with the label that belongs to it.
void check_pass(data::DataLoader& loader) {
  std::vector<bool> seen(kSamples);
  int64_t count = 0;
  for (const data::Batch& batch : loader) {
    const std::vector<int64_t> labels = batch.label.to_vector<int64_t>();
    const float* rows = batch.data.data<float>();
    for (int64_t i = 0; i < batch.size; ++i, ++count) {
      const int64_t label = labels[static_cast<size_t>(i)];
      check(rows[i * kWidth] == static_cast<float>(label), "a sample has another's label");
      check(!seen[static_cast<size_t>(label)], "a sample came twice");
      seen[static_cast<size_t>(label)] = true;
    }
  }
  check(count == kSamples, "samples are missing");
}

double samples_per_second(data::DataLoader& loader) {
  double best = 0;
  for (int pass = 0; pass < 4; ++pass) {
    const Stopwatch watch;
    int64_t samples = 0;
    for (const data::Batch& batch : loader) samples += batch.data.size(0);
    best = std::max(best, static_cast<double>(samples) / watch.seconds());
  }
  return best;
}

}  // namespace

std::vector<Line> run_loader() {
  const Tensor data = Tensor::empty({kSamples, kWidth});
  const Tensor label = Tensor::empty({kSamples}, {.dtype = DType::i64});
  float* values = data.mutable_data<float>();
  int64_t* labels = label.mutable_data<int64_t>();
  for (int64_t i = 0; i < kSamples; ++i) {
    labels[i] = i;
    for (int64_t j = 0; j < kWidth; ++j) values[i * kWidth + j] = static_cast<float>(i + j);
  }
  const data::ArrayDataset set(data, label);
  std::vector<Line> lines;
  for (const int workers : {0, 2}) {
    data::DataLoader loader(set, {.batch_size = 128, .shuffle = true, .workers = workers});
    check_pass(loader);
    lines.push_back(
        {"loader", workers == 0 ? "" : "2 workers", {{"samples_s", samples_per_second(loader)}}});
  }
  return lines;
}

}  // namespace thalweg::bench
