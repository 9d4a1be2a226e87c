// Which steps become one launch, and when. The device is not there: its launches are noted here.

#include "graph/launch_graphs.h"

#include <string>

#include <gtest/gtest.h>

#include <thalweg/ops/pointwise.h>
#include <thalweg/tensor/impl.h>

#include "base/fail.h"

namespace thalweg {
namespace {

std::string g_log;
bool g_fails = false;

void note(const KernelContext& ctx) { g_log += std::string(ctx.op().name) + " "; }

class NotedGraph final : public LaunchGraph {
 public:
  explicit NotedGraph(std::string what) : what_(std::move(what)) {}
  void launch() override { g_log += "[" + what_ + "] "; }

 private:
  std::string what_;
};

std::unique_ptr<LaunchGraph> capture_notes(Device, FunctionRef<void()> work) {
  const std::string before = g_log;
  work();
  if (g_fails) fail_invalid("a launch waits for the device");
  const std::string captured = g_log.substr(before.size());
  g_log = before;
  return std::make_unique<NotedGraph>(captured.substr(0, captured.size() - 1));
}

/// Steps of one operand each.
class LaunchGraphsTest : public testing::Test {
 protected:
  LaunchGraphsTest() {
    g_log.clear();
    g_fails = false;
    records.reserve(16);
    contexts.reserve(16);
    impls.reserve(16);
  }

  void add(const char* op, Device device = Device::cuda()) {
    PlanRecord& r = records.emplace_back();
    r.op = &find_op(op);
    IntrusivePtr<TensorImpl> impl = TensorImpl::create();
    impl->meta.device = device;
    impl->meta.set_row_major({2});
    impls.push_back(std::move(impl));
    pointers.push_back(impls.back().get());
    contexts.emplace_back(*r.op, nullptr, std::span<const TensorImpl* const>{},
                          std::span<TensorImpl* const>(&pointers.back(), 1));
    steps.push_back({note, &contexts.back(), &r});
  }
  void add_host() {
    PlanRecord& r = records.emplace_back();
    r.kind = TraceStep::Kind::host;
    contexts.emplace_back(find_op("neg"), nullptr, std::span<const TensorImpl* const>{},
                          std::span<TensorImpl* const>{});
    steps.push_back({nullptr, &contexts.back(), &r});
  }
  // What one replay does.
  std::string replay(LaunchGraphs& graphs, const std::vector<const void*>& places = {}) {
    g_log.clear();
    graphs.begin(places);
    for (size_t i = 0; i < steps.size();) {
      const size_t next = graphs.run(i);
      if (next == i) {
        steps[i].run ? steps[i].run(*steps[i].context) : void(g_log += "host ");
        ++i;
      } else {
        i = next;
      }
    }
    return g_log;
  }

  std::vector<PlanRecord> records;
  std::vector<IntrusivePtr<TensorImpl>> impls;
  std::vector<TensorImpl*> pointers = [] {
    std::vector<TensorImpl*> v;
    v.reserve(16);
    return v;
  }();
  std::vector<KernelContext> contexts;
  std::vector<LaunchGraphs::Step> steps;
};

TEST_F(LaunchGraphsTest, TheSecondReplayCapturesWhatTheHostDoesNotInterrupt) {
  add("exp");
  add("add");
  add_host();
  add("mul");
  add("neg");
  add("sin");
  LaunchGraphs graphs(steps, capture_notes);
  EXPECT_EQ(replay(graphs), "exp add host mul neg sin ");
  EXPECT_EQ(replay(graphs), "[exp add] host [mul neg sin] ");
  EXPECT_EQ(replay(graphs), "[exp add] host [mul neg sin] ");
  EXPECT_EQ(graphs.describe(), "records launched as one graph: 0 to 1, 3 to 5");
}

TEST_F(LaunchGraphsTest, WhatRunsElsewhereOrDrawsIsLaunchedByItself) {
  add("exp");
  add("add");
  add("tanh", Device::cpu());
  add("mul");
  add("neg");
  add("sin");
  records[5].draw = 0;
  LaunchGraphs graphs(steps, capture_notes);
  replay(graphs);
  EXPECT_EQ(replay(graphs), "[exp add] tanh [mul neg] sin ");
  EXPECT_EQ(graphs.describe(),
            "records launched as one graph: 0 to 1, 3 to 4; 2 (tanh): it runs on the cpu; 5 (sin): "
            "it draws random numbers");
}

TEST_F(LaunchGraphsTest, OneRecordAloneIsNoGraph) {
  add("exp");
  add_host();
  add("neg");
  const LaunchGraphs graphs(steps, capture_notes);
  EXPECT_FALSE(graphs.any());
  EXPECT_EQ(graphs.describe(),
            "launched record by record: no records follow each other on a device that captures "
            "launches");
}

TEST_F(LaunchGraphsTest, MovedMemoryIsCapturedAnewUntilItMovesTooOften) {
  add("exp");
  add("add");
  LaunchGraphs graphs(steps, capture_notes);
  int memory[32];
  replay(graphs, {&memory[0]});
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(replay(graphs, {&memory[i]}), "[exp add] ");
    EXPECT_EQ(replay(graphs, {&memory[i]}), "[exp add] ");
  }
  EXPECT_EQ(replay(graphs, {&memory[9]}), "[exp add] ");
  EXPECT_EQ(replay(graphs, {&memory[10]}), "exp add ");
  EXPECT_EQ(graphs.describe(),
            "launched record by record: gradients are at other places from call to call");
}

TEST_F(LaunchGraphsTest, WhatCannotBeCapturedRunsAndSaysWhy) {
  add("exp");
  add("add");
  LaunchGraphs graphs(steps, capture_notes);
  replay(graphs);
  g_fails = true;
  g_log.clear();
  EXPECT_EQ(replay(graphs), "exp add exp add ");  // the first two in the capture, which fails
  EXPECT_EQ(replay(graphs), "exp add ");
  EXPECT_EQ(graphs.describe(), "launched record by record: a launch waits for the device");
}

}  // namespace
}  // namespace thalweg
