// Walks the op table: every fast kernel of every row against the reference kernel, in every
// floating dtype, on the row's own samples.

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/samples.h>

#include "kernels/agreement.h"
#include "ops/explain.h"

namespace thalweg {
namespace {

size_t impl_bytes(const Tensor& t) { return t.impl()->storage->bytes(); }

// Tensors like those that the op gave, filled with a value that no kernel would write by chance.
std::vector<Tensor> outputs_like(const std::vector<Tensor>& given) {
  std::vector<Tensor> result;
  for (const Tensor& t : given) {
    IntrusivePtr<TensorImpl> impl = TensorImpl::create();
    impl->meta = t.meta();
    impl->allocate();
    result.emplace_back(std::move(impl));
    if (t.size()) std::memset(result.back().impl()->data, 0x5a, impl_bytes(result.back()));
  }
  return result;
}

void expect_close(const Tensor& got, const Tensor& wanted, const std::string& what) {
  if (!is_floating(got.dtype())) {
    EXPECT_EQ(got.to(DType::i64).to_vector<int64_t>(), wanted.to(DType::i64).to_vector<int64_t>())
        << what;
    return;
  }
  const std::vector<double> g = got.to(DType::f64).to_vector<double>();
  const std::vector<double> w = wanted.to(DType::f64).to_vector<double>();
  for (size_t i = 0; i < g.size(); ++i) {
    if (std::isnan(w[i]) && std::isnan(g[i])) continue;
    if (w[i] == g[i]) continue;
    const double allowed = tolerance(got.dtype()) * std::max(1.0, std::abs(w[i]));
    ASSERT_NEAR(g[i], w[i], allowed) << what << ", element " << i;
  }
}

class TableKernels : public testing::TestWithParam<const Op*> {};

TEST_P(TableKernels, AgreeWithTheReference) {
  const Op& op = *GetParam();
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    for (const Sample& sample : samples_of(op, dtype)) {
      const std::vector<const TensorImpl*> inputs = impls(sample.inputs);
      const std::vector<Tensor> shaped = call_many(op, sample.attrs.data(), inputs);
      const auto run = [&](void (*kernel)(const KernelContext&)) {
        std::vector<Tensor> outputs = outputs_like(shaped);
        std::vector<TensorImpl*> targets;
        for (const Tensor& t : outputs) targets.push_back(t.impl());
        kernel(KernelContext(op, sample.attrs.data(), inputs, targets));
        return outputs;
      };
      const std::vector<Tensor> wanted = run(op.reference);
      for (const Kernel& kernel : op.kernels[static_cast<int>(DeviceKind::cpu)].all()) {
        std::vector<TensorImpl*> targets;
        for (const Tensor& t : shaped) targets.push_back(t.impl());
        const KernelContext context(op, sample.attrs.data(), inputs, targets);
        if (kernel.refuse && kernel.refuse(context)) continue;
        const std::vector<Tensor> got = run(kernel.run);
        for (size_t i = 0; i < got.size(); ++i) {
          expect_close(
              got[i], wanted[i],
              std::string(op.name) + " by " + kernel.name + " on " + describe_inputs(context));
        }
      }
    }
  }
}

std::vector<const Op*> rows_with_kernels() {
  std::vector<const Op*> rows;
  for (const Op* op : all_ops()) {
    if (op->reference && op->samples) rows.push_back(op);
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Rows, TableKernels, testing::ValuesIn(rows_with_kernels()),
                         [](const auto& info) { return std::string(info.param->name); });

// --- what every row promises its readers ---

TEST(Table, RowsHaveADocSentenceAndNamedInputs) {
  for (const Op* op : all_ops()) {
    EXPECT_TRUE(std::string(op->doc).ends_with('.')) << op->name;
    EXPECT_NE(op->inputs, nullptr) << op->name;
    for (const AttrField& field : op->attrs().fields) {
      EXPECT_FALSE(std::string(field.doc).empty()) << op->name << "." << field.name;
    }
  }
}

TEST(Table, RowsWithoutAGradientSayWhy) {
  for (const Op* op : all_ops()) {
    EXPECT_TRUE(op->vjp || op->no_gradient) << op->name;
  }
}

TEST(Table, PublicRowsHaveSamples) {
  for (const Op* op : all_ops()) {
    EXPECT_TRUE(op->flags.internal || samples_of(*op, DType::f32).size() >= 3) << op->name;
  }
}

}  // namespace
}  // namespace thalweg
