#include "kernels/op_kernels.h"

#include <cmath>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include <thalweg/base/threads.h>
#include <thalweg/ops/pointwise.h>

#include "kernels/agreement.h"
#include "ops/explain.h"

namespace thalweg {
namespace {

using Outputs = std::vector<Tensor>;

// Outputs start as garbage that no kernel may leave behind.
Outputs run(const Op& op, const Kernel& kernel, const void* attrs,
            const std::vector<const TensorImpl*>& inputs) {
  Outputs outputs;
  std::vector<TensorImpl*> out;
  const size_t count = op.outputs ? op.outputs : op.output_count(attrs);
  for (size_t i = 0; i < count; ++i) {
    outputs.emplace_back(TensorImpl::create());
    out.push_back(outputs.back().impl());
  }
  op.infer(InferContext(op, attrs, inputs, out));
  for (TensorImpl* impl : out) {
    impl->allocate();
    const size_t elements = static_cast<size_t>(impl->meta.size());
    std::memset(impl->data, 0x7f, elements * item_size(impl->meta.dtype));
  }
  kernel.run(KernelContext(op, attrs, inputs, out));
  return outputs;
}

bool refuses(const Op& op, const Kernel& kernel, const void* attrs,
             const std::vector<const TensorImpl*>& inputs, const Outputs& outputs) {
  std::vector<TensorImpl*> out;
  for (const Tensor& tensor : outputs) out.push_back(tensor.impl());
  return kernel.refuse && kernel.refuse(KernelContext(op, attrs, inputs, out));
}

void expect_near(const Tensor& actual, const Tensor& expected, Tolerance tolerance) {
  const std::vector<double> a = actual.to(DType::f64).to_vector<double>();
  const std::vector<double> e = expected.to(DType::f64).to_vector<double>();
  for (size_t i = 0; i < e.size(); ++i) {
    const double allowed = tolerance.absolute + tolerance.relative * std::abs(e[i]);
    ASSERT_FALSE(std::isnan(a[i]) != std::isnan(e[i]) || std::abs(a[i] - e[i]) > allowed)
        << "element " << i << ": " << a[i] << ", the reference gives " << e[i];
  }
}

void expect_same_bits(const Tensor& a, const Tensor& b) {
  const size_t bytes = static_cast<size_t>(a.size()) * item_size(a.dtype());
  EXPECT_TRUE(bytes == 0 || std::memcmp(a.impl()->data, b.impl()->data, bytes) == 0);
}

}  // namespace

int expect_kernels_agree(const char* name, const void* attrs, const std::vector<Tensor>& inputs,
                         Tolerance tolerance) {
  neg(Tensor::ones({1}));  // registers the kernels
  const Op& op = find_op(name);
  const std::vector<const TensorImpl*> in = impls(inputs);
  const KernelList& list = op.kernels[static_cast<int>(DeviceKind::cpu)];
  const Outputs expected = run(op, list.all().back(), attrs, in);
  int ran = 0;
  for (const Kernel& kernel : list.all().first(list.all().size() - 1)) {
    if (refuses(op, kernel, attrs, in, expected)) continue;
    SCOPED_TRACE(std::string(kernel.name) + " on " + describe_inputs({op, attrs, in, {}}));
    ++ran;
    Outputs serial;
    for (const int threads : {1, 2, 3, 4}) {
      set_num_threads(threads);
      const Outputs outputs = run(op, kernel, attrs, in);
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (threads == 1)
          expect_near(outputs[i], expected[i], tolerance);
        else
          expect_same_bits(outputs[i], serial[i]);
      }
      if (threads == 1) serial = outputs;
    }
    set_num_threads(1);
  }
  return ran;
}

}  // namespace thalweg
