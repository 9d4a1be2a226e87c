// What a plan's results are, and which signatures keep a plan.

#include <gtest/gtest.h>

#include <thalweg/base/log.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/ops/pointwise.h>

#include "base/expect_error.h"

namespace thalweg {
namespace {

TEST(Plan, ResultsHaveNoHistory) {
  const Tensor w = Tensor::of({2.0f});
  w.attach_grad();
  auto f = plan([&] {
    const Record record;
    return w * 2;
  });
  for (int i = 0; i < 4; ++i) {  // traced and replayed
    EXPECT_EQ(
        error_text(ErrorKind::invalid, [&] { f().backward(); }),
        "backward: head 0 of shape [1] f32 is the result of a planned function or hybridized net, "
        "and such have no history; call backward() inside the planned function, or call the "
        "function inside a Record scope, where it runs as it is");
  }
  const Tensor y = f();
  y.attach_grad();  // a leaf like any other
  EXPECT_NO_THROW(y.backward());
}

TEST(Plan, OnlyItsOwnResultsAreCalledSo) {
  const Tensor w = Tensor::of({2.0f});
  w.attach_grad();
  auto f = plan([&] { return w * 2; });
  for (int i = 0; i < 4; ++i) f();
  const Tensor y = f() * 1;
  EXPECT_NE(error_text(ErrorKind::invalid, [&] { y.backward(); }).find("no recorded history"),
            std::string::npos);
}

// --- signatures ---

class Lines final : public LogSink {
 public:
  Lines() : before_(set_log_sink(this)), verbosity_(verbosity()) { set_verbosity(1); }
  ~Lines() override {
    set_verbosity(verbosity_);
    set_log_sink(before_);
  }
  void write(LogLevel, std::string_view text) noexcept override {
    all_ += text;
    all_ += '\n';
  }
  const std::string& all() const { return all_; }

 private:
  LogSink* before_;
  int verbosity_;
  std::string all_;
};

TEST(PlanSignatures, TheLatestAreKeptAndWhatWentIsSaid) {
  const Lines lines;
  auto f = plan([](const Tensor& x) { return x + 1; }, {.signatures = 2});
  for (int64_t n = 1; n <= 5; ++n) f(Tensor::zeros({n}));
  EXPECT_EQ(f.counts().evicted, 3);
  EXPECT_NE(f.explain().find("3 signatures given up for newer ones"), std::string::npos);
  EXPECT_NE(lines.all().find("plan: (f32 [3]) is given up for a newer signature; 2 are kept"),
            std::string::npos)
      << lines.all();
  EXPECT_EQ(error_text(ErrorKind::invalid, [] { plan([] {}, {.signatures = 0}); }),
            "plan: signatures is 0; it must be at least 1");
}

TEST(PlanSignatures, TheOneLongestUnusedGoesAndIsPlannedAnew) {
  auto f = plan([](const Tensor& x) { return x + 1; }, {.signatures = 2});
  const auto call = [&](int64_t n) {
    const Tensor y = f(Tensor::full({n}, n));
    EXPECT_EQ(y.to_vector<float>(), std::vector<float>(n, static_cast<float>(n + 1)));
  };
  for (int i = 0; i < 4; ++i) call(1), call(2);
  EXPECT_EQ(f.counts().plans, 2);
  call(1);
  call(3);  // in place of 2
  call(1);
  EXPECT_EQ(f.counts().plans, 2);
  for (int i = 0; i < 4; ++i) call(2);  // in place of 3
  EXPECT_EQ(f.counts().plans, 3);
  EXPECT_EQ(f.counts().evicted, 2);
}

}  // namespace
}  // namespace thalweg
