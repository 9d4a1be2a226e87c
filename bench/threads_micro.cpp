// What a second thread brings to a loop of so much work, and so from where on it is worth waking:
// against detail::kMinThreadNs. Each loop comes after a pause, so that the worker sleeps.
// `threads_micro ROUNDS` sets how often each is run.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <thalweg/base/threads.h>

namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

// A chain that no compiler shortens and no memory slows.
void work(int64_t turns) {
  volatile double sink = 1;
  double x = sink;
  for (int64_t i = 0; i < turns; ++i) x = x * 0.999 + 0.001;
  sink = x;
}

double turns_per_us() {
  double least = 1e18;
  for (int i = 0; i < 50; ++i) {
    const auto begin = Clock::now();
    work(100'000);
    least = std::min(least, us_since(begin));
  }
  return 100'000 / least;
}

struct Times {
  double least, median;
};

Times of(std::vector<double>& us) {
  std::ranges::sort(us);
  return {us.front(), us[us.size() / 2]};
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
  thalweg::set_num_threads(2);
  const double rate = turns_per_us();
  fmt::print("us of work    one thread (least, median)    two threads (least, median)\n");
  for (const double us : {5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 240.0}) {
    const auto half = static_cast<int64_t>(us * rate / 2);
    std::vector<double> one, two;
    for (int i = 0; i < rounds; ++i) {
      for (const bool wakes : {false, true}) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        const auto begin = Clock::now();
        const auto tile = [&](int64_t) { work(half); };
        // So much work, as the loop is told, is always worth a thread.
        thalweg::detail::run_tiles(2, wakes ? 1e6 : 1, tile);
        (wakes ? two : one).push_back(us_since(begin));
      }
    }
    const Times a = of(one), b = of(two);
    fmt::print("{:>10}  {:>12.1f} {:>12.1f}  {:>16.1f} {:>12.1f}\n", us, a.least, a.median, b.least,
               b.median);
  }
}
