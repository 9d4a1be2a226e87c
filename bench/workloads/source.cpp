// A minibatch source over arrays in memory, against a bare gather of the same rows in the same
// order, pass by pass; and going on in the middle of a million sequences.

#include <algorithm>
#include <cstring>

#include <thalweg/base/clock.h>
#include <thalweg/base/permutation.h>
#include <thalweg/thalweg.h>

#include "bench/workloads/workload.h"

namespace thalweg::bench {
namespace {

constexpr int64_t kSamples = 60000;
constexpr int64_t kWidth = 784;
constexpr int64_t kBatch = 128;
constexpr int kPasses = 5;

struct Arrays {
  Tensor data = Tensor::empty({kSamples, kWidth});
  Tensor label = Tensor::empty({kSamples}, {.dtype = DType::i64});
};

Arrays make_arrays() {
  Arrays arrays;
  float* values = arrays.data.mutable_data<float>();
  int64_t* labels = arrays.label.mutable_data<int64_t>();
  for (int64_t i = 0; i < kSamples; ++i) {
    labels[i] = i;
    for (int64_t j = 0; j < kWidth; ++j) values[i * kWidth + j] = static_cast<float>(i + j);
  }
  return arrays;
}

// Nothing but copies of rows and labels into one buffer, in a mixed order that is known before.
double gather_seconds(const Arrays& arrays, const std::vector<int64_t>& order) {
  std::vector<float> batch(kBatch * kWidth);
  std::vector<int64_t> labels(kBatch);
  const float* rows = arrays.data.data<float>();
  const int64_t* from = arrays.label.data<int64_t>();
  const Stopwatch watch;
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t at = i % kBatch;
    std::memcpy(&batch[at * kWidth], rows + order[i] * kWidth, kWidth * sizeof(float));
    labels[at] = from[order[i]];
  }
  const double seconds = watch.seconds();
  check(labels[0] >= 0, "a label is negative");
  return seconds;
}

double source_seconds(const Arrays& arrays, int workers, bool checks) {
  data::MinibatchSource source(
      {data::MemoryDeserializer({{"data", arrays.data}, {"label", arrays.label}})},
      {.seed = 1, .workers = workers});
  std::vector<bool> seen(kSamples);
  int64_t count = 0;
  const Stopwatch watch;
  while (const auto mb = source.next_minibatch(kBatch)) {
    count += mb.num_samples;
    if (!checks) continue;
    const std::vector<int64_t> labels = mb["label"].to_vector<int64_t>();
    for (int64_t i = 0; i < mb.num_samples; ++i) {
      const int64_t label = labels[static_cast<size_t>(i)];
      check(mb["data"].data<float>()[i * kWidth] == static_cast<float>(label),
            "a sample has another's label");
      check(!seen[static_cast<size_t>(label)], "a sample came twice");
      seen[static_cast<size_t>(label)] = true;
    }
  }
  check(count == kSamples, "samples are missing");
  return watch.seconds();
}

Line restore_line() {
  constexpr int64_t kSequences = 1000000;
  const Tensor data = Tensor::zeros({kSequences, 4});
  const auto make = [&] {
    return data::MinibatchSource({data::MemoryDeserializer({{"data", data}})}, {.seed = 1});
  };
  data::MinibatchSource first = make();
  first.next_minibatch(654321);
  const std::string state = first.checkpoint();
  const std::vector<data::MinibatchSequence> expected = first.next_minibatch(kBatch).sequences;
  double best = 1e300;
  for (int pass = 0; pass < kPasses; ++pass) {
    data::MinibatchSource source = make();
    const Stopwatch watch;
    source.restore(state);
    check(source.next_minibatch(kBatch).sequences == expected, "the minibatch is another one");
    best = std::min(best, watch.seconds());
  }
  return {"source", "restore in 1 M", {{"ms", best * 1e3}}};
}

}  // namespace

std::vector<Line> run_source() {
  const Arrays arrays = make_arrays();
  const Permutation permutation(kSamples, 1);
  std::vector<int64_t> order;
  for (uint64_t i = 0; i < kSamples; ++i) order.push_back(static_cast<int64_t>(permutation(i)));
  std::vector<Line> lines;
  for (const int workers : {0, 1, 2}) {
    source_seconds(arrays, workers, true);
    double bare = 1e300;
    double own = 1e300;
    for (int pass = 0; pass < kPasses; ++pass) {
      bare = std::min(bare, gather_seconds(arrays, order));
      own = std::min(own, source_seconds(arrays, workers, false));
    }
    lines.push_back({"source",
                     std::to_string(workers) + " workers",
                     {{"samples_s", kSamples / own}, {"of_bare_gather", bare / own}}});
  }
  lines.push_back(restore_line());
  return lines;
}

}  // namespace thalweg::bench
