#include "graph/machine_rates.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include <thalweg/base/clock.h>
#include <thalweg/base/threads.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/ops/call.h>
#include <thalweg/ops/linear.h>

namespace thalweg {
namespace {

constexpr double kMeasured = 0.02;  // seconds

// No op that is run here counts.
class Unseen {
 public:
  Unseen() : tracer_(std::exchange(thread_mode().tracer, nullptr)) {}
  ~Unseen() { thread_mode().tracer = tracer_; }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  Tracer* tracer_;
  Pause pause_;
};

// The shortest time of `run`, repeated for a while.
template <typename Run>
double least_seconds(double measured, const Run& run) {
  run();
  const Stopwatch all;
  double least = 1e9;
  do {
    const Stopwatch one;
    run();
    least = std::min(least, one.seconds());
  } while (all.seconds() < measured);
  return least;
}

// Rates by what they are of and the number of threads.
class Known {
 public:
  template <typename Measure>
  double get(int64_t of, const Measure& measure) {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = rates_.try_emplace({of, num_threads()});
    if (is_new) at->second = measure();
    return at->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<int64_t, int>, double> rates_;
};

}  // namespace

double measure_product_rate(DType dtype, int64_t size, double seconds) {
  const Unseen unseen;
  const Tensor a = Tensor::ones({size, size}, {dtype}), b = a.clone();
  const auto n = static_cast<double>(size);
  return 2 * n * n * n / least_seconds(seconds, [&] { matmul(a, b); });
}

double measure_copy_rate(int64_t bytes, double seconds) {
  const Unseen unseen;
  const Tensor from = Tensor::ones({bytes / 4}), to = Tensor::zeros({bytes / 4});
  return 2.0 * static_cast<double>(bytes) / least_seconds(seconds, [&] { to.assign(from); });
}

double product_rate(DType dtype) {
  static Known known;
  const DType measured = is_floating(dtype) ? dtype : DType::f32;
  return known.get(static_cast<int64_t>(measured),
                   [&] { return measure_product_rate(measured, 256, kMeasured); });
}

double copy_rate(int64_t bytes) {
  static Known known;
  constexpr int64_t kSizes[] = {int64_t{32} << 10, int64_t{512} << 10, int64_t{4} << 20};
  int64_t size = int64_t{32} << 20;
  for (const int64_t s : kSizes) {
    if (bytes <= 2 * s) {
      size = s;
      break;
    }
  }
  return known.get(size, [&] { return measure_copy_rate(size, kMeasured); });
}

}  // namespace thalweg
