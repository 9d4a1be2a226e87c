// Point-wise records of an accelerator become one kernel, of whatever makes such kernels there.

#include <gtest/gtest.h>

#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/views.h>

#include "graph/fusion.h"
#include "graph/passes.h"
#include "graph/trace.h"

namespace thalweg {
namespace {

class NoKernel final : public FusedKernel {
 public:
  void run(const KernelContext&) const override {}
};

FusedRun g_run;

// Takes the place of the accelerator's own for a test.
class DeviceFusionTest : public testing::Test {
 protected:
  DeviceFusionTest() {
    neg(Tensor::ones({1}));  // registers the kernels
    if (const DeviceFusion* own = device_fusion(DeviceKind::cuda)) own_ = *own;
    set_device_fusion(DeviceKind::cuda,
                      {[](const Op& op) { return std::string_view(op.name) != "tanh"; },
                       [](const FusedRun& run) -> std::unique_ptr<FusedKernel> {
                         g_run = run;
                         return std::make_unique<NoKernel>();
                       }});
  }
  ~DeviceFusionTest() override { set_device_fusion(DeviceKind::cuda, own_); }

  // The graph as if all of it had run on a GPU, fused.
  static PlanGraph fused_on_gpu(const std::function<Tensor(const Tensor&)>& f) {
    const Tensor x = Tensor::ones({2, 3});
    const TensorImpl* const in[] = {x.impl()};
    Trace trace(in);
    std::vector<Tensor> results{f(x)};
    trace.finish(results);
    PlanGraph graph = graph_of(trace);
    for (PlanBuffer& b : graph.buffers) b.device = Device::cuda();
    for (PlanRecord& r : graph.records) {
      for (TraceOperand& o : r.inputs) o.meta.device = Device::cuda();
      for (TraceOperand& o : r.outputs) o.meta.device = Device::cuda();
    }
    fuse_pointwise_runs(graph);
    return graph;
  }

 private:
  DeviceFusion own_;
};

TEST_F(DeviceFusionTest, JoinsRecordsOfAnySize) {
  const PlanGraph graph = fused_on_gpu([](const Tensor& x) { return relu(x * x + x) * 2.0; });
  ASSERT_EQ(graph.records.size(), 1u);
  const PlanRecord& r = graph.records[0];
  EXPECT_STREQ(r.kernel.name, "one kernel: mul, add, relu, mul");
  EXPECT_TRUE(r.body->device_kernel);
  ASSERT_EQ(g_run.parts.size(), 4u);
  EXPECT_STREQ(g_run.parts[1].op->name, "add");
  EXPECT_EQ(g_run.inputs, 2u);  // x and the number
  EXPECT_EQ(g_run.outputs, 1u);
  EXPECT_EQ(g_run.parts[3].output, 2u);
  EXPECT_TRUE(r.body->operands[1].repeats);
}

TEST_F(DeviceFusionTest, StopsAtWhatItDoesNotTakeAndAtOtherLayouts) {
  const PlanGraph one = fused_on_gpu([](const Tensor& x) { return tanh(x * x + x) * x; });
  EXPECT_EQ(one.records.size(), 3u);
  const PlanGraph other = fused_on_gpu([](const Tensor& x) {
    return sqrt(abs(x)) + transpose(exp(transpose(x) * 2.0).contiguous());
  });
  EXPECT_GT(other.records.size(), 1u);
}

TEST_F(DeviceFusionTest, LeavesRecordsOfOneElementAlone) {
  const PlanGraph graph = fused_on_gpu([](const Tensor& x) {
    const Tensor one = x[{0, 0}];
    return one * 2.0 + 1.0;
  });
  EXPECT_EQ(graph.records.size(), 2u);
}

}  // namespace
}  // namespace thalweg
