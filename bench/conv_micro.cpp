// Convolutions of small nets: every kernel of the three ops, and oneDNN's primitives on channels
// last with weights in its own order, in one run. Single-threaded; `conv_micro SECONDS` sets the
// time given to each line.

#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <thalweg/base/threads.h>
#include <thalweg/ops/conv.h>
#include <thalweg/ops/views.h>

#include "ops/conv.h"
#include "stopwatch.h"

#if THALWEG_WITH_ONEDNN
#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace {

using thalweg::Dims;
using thalweg::Shape;
using thalweg::Tensor;

struct Row {
  const char* what;
  int64_t batch, in_channels, out_channels, size, kernel, stride, padding;
  int64_t groups = 1;

  int64_t out_size() const { return (size + 2 * padding - kernel) / stride + 1; }
  double flops() const {
    return 2.0 * static_cast<double>(batch * out_channels * out_size() * out_size() * in_channels /
                                     groups * kernel * kernel);
  }
};

constexpr Row kRows[] = {
    {"lenet 1", 64, 1, 6, 28, 5, 1, 2},      {"lenet 2", 64, 6, 16, 14, 5, 1, 0},
    {"rgb", 32, 3, 16, 32, 3, 1, 1},         {"16", 32, 16, 16, 32, 3, 1, 1},
    {"32", 32, 32, 32, 16, 3, 1, 1},         {"64", 32, 64, 64, 8, 3, 1, 1},
    {"16 to 32", 32, 16, 32, 32, 3, 2, 1},   {"64, 1 x 1", 32, 64, 128, 16, 1, 1, 0},
    {"64, large", 8, 64, 64, 56, 3, 1, 1},   {"depthwise", 32, 64, 64, 16, 3, 1, 1, 64},
    {"4 groups", 32, 64, 64, 16, 3, 1, 1, 4}};

Tensor filled(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(thalweg::element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) * 0.1f - 0.8f;
  return Tensor::of(values, shape);
}

Tensor image(int64_t n, int64_t c, int64_t size) {
  return permute(filled({n, size, size, c}), {0, 3, 1, 2});
}

struct Candidate {
  std::string name;
  std::function<void()> run;
};

// One call of an op, kept alive while its kernels run.
class Call {
 public:
  Call(const char* op, const void* attrs, std::vector<Tensor> inputs)
      : op_(thalweg::find_op(op)), inputs_(std::move(inputs)), out_(thalweg::TensorImpl::create()) {
    for (const Tensor& input : inputs_) impls_.push_back(input.impl());
    outputs_.push_back(out_.impl());
    op_.infer({op_, attrs, impls_, outputs_});
    out_.impl()->allocate();
    context_ = std::make_unique<thalweg::KernelContext>(op_, attrs, impls_, outputs_);
  }
  void add_to(std::vector<Candidate>& candidates) {
    for (const thalweg::Kernel& k : op_.kernels[0].all()) {
      if (std::string(k.name) == "reference") continue;
      if (k.refuse && k.refuse(*context_)) continue;
      candidates.push_back({k.name, [&k, this] { k.run(*context_); }});
    }
  }

 private:
  const thalweg::Op& op_;
  std::vector<Tensor> inputs_;
  Tensor out_;
  std::vector<const thalweg::TensorImpl*> impls_;
  std::vector<thalweg::TensorImpl*> outputs_;
  std::unique_ptr<thalweg::KernelContext> context_;
};

#if THALWEG_WITH_ONEDNN
using dnnl::memory;

struct Problem {
  memory::desc x, w, y;
  memory::dims strides, padding;
};

template <typename Primitive>
Candidate peer(const typename Primitive::primitive_desc& desc,
               std::vector<std::pair<int, memory::desc>> arguments, const dnnl::engine& engine) {
  std::unordered_map<int, memory> memories;
  for (const auto& [id, d] : arguments) {
    memories.emplace(id, memory(d, engine));
    std::fill_n(static_cast<float*>(memories.at(id).get_data_handle()), d.get_size() / 4, 0.5f);
  }
  return {"oneDNN primitive",
          [primitive = Primitive(desc), memories, stream = dnnl::stream(engine)]() mutable {
            primitive.execute(stream, memories);
          }};
}

std::vector<Candidate> peers(const Row& r) {
  using dnnl::algorithm;
  using tag = memory::format_tag;
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const memory::dims stride{r.stride, r.stride}, padding{r.padding, r.padding};
  const auto f32 = memory::data_type::f32;
  const memory::desc x({r.batch, r.in_channels, r.size, r.size}, f32, tag::nhwc);
  const memory::desc y({r.batch, r.out_channels, r.out_size(), r.out_size()}, f32, tag::nhwc);
  const int64_t in = r.in_channels / r.groups, out = r.out_channels / r.groups;
  const memory::desc w = r.groups == 1
                             ? memory::desc({out, in, r.kernel, r.kernel}, f32, tag::any)
                             : memory::desc({r.groups, out, in, r.kernel, r.kernel}, f32, tag::any);
  const dnnl::convolution_forward::primitive_desc f(engine, dnnl::prop_kind::forward_training,
                                                    algorithm::convolution_direct, x, w, y, stride,
                                                    padding, padding);
  const dnnl::convolution_backward_data::primitive_desc d(engine, algorithm::convolution_direct, x,
                                                          w, y, stride, padding, padding, f);
  const dnnl::convolution_backward_weights::primitive_desc b(engine, algorithm::convolution_direct,
                                                             x, w, y, stride, padding, padding, f);
  return {
      peer<dnnl::convolution_forward>(
          f, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, f.weights_desc()}, {DNNL_ARG_DST, y}}, engine),
      peer<dnnl::convolution_backward_data>(
          d, {{DNNL_ARG_DIFF_DST, y}, {DNNL_ARG_WEIGHTS, d.weights_desc()}, {DNNL_ARG_DIFF_SRC, x}},
          engine),
      peer<dnnl::convolution_backward_weights>(b,
                                               {{DNNL_ARG_SRC, x},
                                                {DNNL_ARG_DIFF_DST, y},
                                                {DNNL_ARG_DIFF_WEIGHTS, b.diff_weights_desc()}},
                                               engine)};
}
#else
std::vector<Candidate> peers(const Row&) { return {}; }
#endif

void print(const Row& row, const char* pass, const std::vector<Candidate>& candidates,
           double seconds) {
  std::vector<std::function<void()>> runs;
  for (const Candidate& candidate : candidates) runs.push_back(candidate.run);
  const std::vector<double> ns = bench::race(runs, seconds);
  fmt::print("{:<10} {:<8}", row.what, pass);
  for (size_t i = 0; i < ns.size(); ++i) {
    fmt::print("  {} {:.0f} us ({:.0f} GF)", candidates[i].name, ns[i] / 1e3, row.flops() / ns[i]);
  }
  fmt::print("\n");
}

void measure(const Row& r, double seconds) {
  const Tensor x = image(r.batch, r.in_channels, r.size);
  const Tensor y = image(r.batch, r.out_channels, r.out_size());
  const Tensor w = filled({r.out_channels, r.in_channels / r.groups, r.kernel, r.kernel});
  const Dims stride{r.stride, r.stride}, padding{r.padding, r.padding}, ones{1, 1};
  const int64_t missing = r.size - ((r.out_size() - 1) * r.stride + r.kernel - 2 * r.padding);
  const thalweg::ConvAttrs forward{stride, padding, ones, r.groups};
  const thalweg::ConvTransposeAttrs back{stride, padding, {missing, missing}, ones, r.groups};
  const thalweg::ConvWeightAttrs weights{stride, padding, ones, {r.kernel, r.kernel}, r.groups};
  Call calls[] = {{"conv", &forward, {x, w, Tensor()}},
                  {"conv_transpose", &back, {y, w, Tensor()}},
                  {"conv_weight_gradient", &weights, {x, y}}};
  const char* const names[] = {"forward", "data", "weights"};
  const std::vector<Candidate> others = peers(r);
  for (size_t i = 0; i < 3; ++i) {
    std::vector<Candidate> candidates;
    calls[i].add_to(candidates);
    if (!others.empty()) candidates.push_back(others[i]);
    print(r, names[i], candidates, seconds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.2;
  thalweg::set_num_threads(1);
#if THALWEG_WITH_ONEDNN
  omp_set_num_threads(1);
#endif
  conv(image(1, 1, 3), filled({1, 1, 1, 1}));  // registers the kernels
  for (const Row& row : kRows) measure(row, seconds);
}
