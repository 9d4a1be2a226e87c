#include <thalweg/thalweg.h>

#include "bench/workloads/workload.h"

namespace thalweg::bench {
namespace {

constexpr int kCalls = 100000;

// Time a block in one call, so that the call itself does not count.
template <typename Body>
double microseconds(Body body) {
  const auto block = [&] {
    for (int i = 0; i < kCalls; ++i) body();
  };
  return best_seconds(block, 1, 10) / kCalls * 1e6;
}

Tensor recorded_sum(const Tensor& a, const Tensor& b) {
  const Record record;
  return a + b;
}

}  // namespace

std::function<void()> add1_step(bool recorded) {
  const Tensor a = Tensor::full({1}, 1);
  const Tensor b = Tensor::full({1}, 2);
  if (!recorded) return [a, b] { a + b; };
  a.attach_grad();
  return [a, b] { recorded_sum(a, b); };
}

std::vector<Line> run_add1() {
  const Tensor a = Tensor::full({1}, 1);
  const Tensor b = Tensor::full({1}, 2);
  check((a + b).item<float>() == 3, "1 + 2");
  const double plain = microseconds([&] { a + b; });
  a.attach_grad();
  recorded_sum(a, b).backward();
  check(a.grad().item<float>() == 1, "the gradient of a + b");
  const double taped = microseconds([&] { recorded_sum(a, b); });
  return {{"add1", "", {{"us", plain}}}, {"add1_recorded", "", {{"us", taped}}}};
}

}  // namespace thalweg::bench
