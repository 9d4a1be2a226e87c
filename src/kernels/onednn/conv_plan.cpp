#include "kernels/onednn/conv_plan.h"

#include <algorithm>
#include <string_view>

#include "kernels/onednn/cache.h"

namespace thalweg::onednn {
namespace {

using dnnl::memory;

// Axes as oneDNN is told of them: three, or two if the first is trivial.
struct Axes {
  explicit Axes(const ConvProblem& p)
      : first(p.in[0] == 1 && p.out[0] == 1 && p.kernel[0] == 1 ? 1 : 0) {}
  int first;

  memory::dims of(const int64_t (&values)[3]) const { return {values + first, values + 3}; }
  memory::dims with(memory::dims leading, const int64_t (&values)[3]) const {
    leading.insert(leading.end(), values + first, values + 3);
    return leading;
  }
};

// oneDNN counts the dilation from 0, and takes the padding of both ends.
struct Settings {
  Settings(const ConvProblem& p, const Axes& axes)
      : stride(axes.of(p.stride)), dilation(axes.of(p.dilation)), left(axes.of(p.padding)) {
    for (int64_t& d : dilation) --d;
    for (int i = axes.first; i < 3; ++i) {
      const int64_t window = p.dilation[i] * (p.kernel[i] - 1) + 1;
      right.push_back((p.out[i] - 1) * p.stride[i] + window - p.in[i] - p.padding[i]);
    }
  }
  memory::dims stride, dilation, left, right;
};

struct Descs {
  memory::desc x, w, y, bias;
};

class Maker {
 public:
  explicit Maker(const ConvKey& key)
      : key_(key),
        p_(key.problem),
        axes_(p_),
        settings_(p_, axes_),
        type_(data_type(static_cast<DType>(key.dtype))) {}

  ConvPlan make() {
    const OneThread alone;
    ConvPlan plan;
    plan.plain_w = plain_weights();
    if (key_.has_bias) plan.bias = {{channels(p_.out_channels)}, type_, memory::format_tag::a};
    const int64_t images = images_per_part();
    plan.refusal =
        make_part(images, memory::desc(weight_dims(), weight_type(), memory::format_tag::any),
                  plan.bias, plan.part);
    if (!plan.refusal && p_.batch % images) {
      plan.refusal = make_part(p_.batch % images, plan.part.w, plan.bias, plan.rest);
    }
    if (!plan.refusal) make_reorder(plan);
    return plan;
  }

 private:
  int64_t channels(int64_t of_group) const { return p_.groups * of_group; }

  memory::dims weight_dims() const {
    return p_.groups == 1 ? axes_.with({p_.out_channels, p_.in_channels}, p_.kernel)
                          : axes_.with({p_.groups, p_.out_channels, p_.in_channels}, p_.kernel);
  }
  // Partial sums of gradients are f32.
  memory::data_type weight_type() const {
    return key_.pass == ConvPass::weights ? memory::data_type::f32 : type_;
  }
  memory::desc plain_weights() const {
    memory::dims strides{p_.w.outer, p_.w.channel};
    if (p_.groups > 1) strides.insert(strides.begin(), p_.out_channels * p_.w.outer);
    return {weight_dims(), type_, axes_.with(strides, p_.w.spatial)};
  }

  // A part takes long enough to be worth a thread, and there are enough parts for some threads.
  int64_t images_per_part() const {
    constexpr double kPartFlops = 4e6;
    constexpr int64_t kParts = 16;
    double flops = 2;
    for (int i = 0; i < 3; ++i) flops *= static_cast<double>(p_.out[i] * p_.kernel[i]);
    flops *= static_cast<double>(p_.groups * p_.out_channels * p_.in_channels);
    const auto worth = static_cast<int64_t>(kPartFlops / flops) + 1;
    const int64_t parts = key_.pass == ConvPass::weights ? kParts / 2 : kParts;
    return std::clamp(std::max(worth, (p_.batch + parts - 1) / parts), int64_t{1}, p_.batch);
  }

  template <typename Strides>
  memory::desc image(int64_t images, int64_t channels, const int64_t (&sizes)[3],
                     const Strides& s) const {
    return {axes_.with({images, channels}, sizes), type_,
            axes_.with({s.outer, channels == 1 ? 1 : s.channel}, s.spatial)};
  }

  const char* make_part(int64_t images, const memory::desc& w, const memory::desc& bias,
                        ConvPart& part) {
    const Descs descs{image(images, channels(p_.in_channels), p_.in, p_.x), w,
                      image(images, channels(p_.out_channels), p_.out, p_.y), bias};
    part.images = images;
    part.x = descs.x;
    part.y = descs.y;
    switch (key_.pass) {
      case ConvPass::forward:
        return finish<dnnl::convolution_forward>(forward(descs), part);
      case ConvPass::data:
        return finish<dnnl::convolution_backward_data>(data(descs), part);
      case ConvPass::weights:
        break;
    }
    return finish<dnnl::convolution_backward_weights>(weights(descs), part);
  }

  dnnl::convolution_forward::primitive_desc forward(const Descs& d) const {
    const auto kind = dnnl::prop_kind::forward_training;
    const auto algorithm = dnnl::algorithm::convolution_direct;
    if (!key_.has_bias) {
      return {engine(),
              kind,
              algorithm,
              d.x,
              d.w,
              d.y,
              settings_.stride,
              settings_.dilation,
              settings_.left,
              settings_.right,
              attributes(),
              true};
    }
    return {engine(),
            kind,
            algorithm,
            d.x,
            d.w,
            d.bias,
            d.y,
            settings_.stride,
            settings_.dilation,
            settings_.left,
            settings_.right,
            attributes(),
            true};
  }
  // The forward descriptor that the others ask for as a hint.
  dnnl::convolution_forward::primitive_desc hint(const Descs& d) const {
    Descs open = d;
    open.w = memory::desc(weight_dims(), type_, memory::format_tag::any);
    return {engine(),
            dnnl::prop_kind::forward_training,
            dnnl::algorithm::convolution_direct,
            open.x,
            open.w,
            open.y,
            settings_.stride,
            settings_.dilation,
            settings_.left,
            settings_.right,
            attributes(),
            true};
  }
  dnnl::convolution_backward_data::primitive_desc data(const Descs& d) const {
    const auto forward = hint(d);
    if (!forward) return {};
    return {engine(),
            dnnl::algorithm::convolution_direct,
            d.x,
            d.w,
            d.y,
            settings_.stride,
            settings_.dilation,
            settings_.left,
            settings_.right,
            forward,
            attributes(),
            true};
  }
  dnnl::convolution_backward_weights::primitive_desc weights(const Descs& d) const {
    const auto forward = hint(d);
    if (!forward) return {};
    return {engine(),
            dnnl::algorithm::convolution_direct,
            d.x,
            d.w,
            d.y,
            settings_.stride,
            settings_.dilation,
            settings_.left,
            settings_.right,
            forward,
            attributes(),
            true};
  }

  template <typename Primitive>
  const char* finish(const typename Primitive::primitive_desc& desc, ConvPart& part) {
    if (!desc) return "oneDNN has no kernel for these shapes, strides or this processor";
    if (std::string_view(desc.impl_info_str()).find("ref") != std::string_view::npos) {
      return "oneDNN has only its reference for these shapes, strides or this processor";
    }
    part.primitive = Primitive(desc);
    if constexpr (std::is_same_v<Primitive, dnnl::convolution_backward_weights>)
      part.w = desc.diff_weights_desc();
    else
      part.w = desc.weights_desc();
    part.scratchpad = desc.scratchpad_desc();
    return nullptr;
  }

  void make_reorder(ConvPlan& plan) {
    const bool back = key_.pass == ConvPass::weights;
    const memory::desc &from = back ? plan.part.w : plan.plain_w,
                       &to = back ? plan.plain_w : plan.part.w;
    const dnnl::reorder::primitive_desc desc(engine(), from, engine(), to, attributes(), true);
    if (!desc) {
      plan.refusal = "oneDNN cannot reorder these weights";
      return;
    }
    plan.reorder = dnnl::reorder(desc);
    plan.reorder_scratchpad = desc.scratchpad_desc();
  }

  const ConvKey& key_;
  const ConvProblem& p_;
  Axes axes_;
  Settings settings_;
  memory::data_type type_;
};

ConvPlan make_plan(const ConvKey& key) {
  try {
    return Maker(key).make();
  } catch (const dnnl::error&) {
    ConvPlan none;
    none.refusal = "oneDNN refuses these shapes or strides";
    return none;
  }
}

}  // namespace

std::shared_ptr<const ConvPlan> conv_plan(const ConvKey& key) {
  static Cache<ConvKey, ConvPlan>& cache = *new Cache<ConvKey, ConvPlan>;
  return cache.get(key, [&] { return std::make_shared<const ConvPlan>(make_plan(key)); });
}

}  // namespace thalweg::onednn
