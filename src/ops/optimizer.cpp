// The rows that change weights. Formulas are PyTorch's (torch.optim, version 2); see
// include/thalweg/train/optimizer.h for what the options of each optimizer make of them.

#include "ops/optimizer.h"

#include <cmath>

#include <thalweg/ops/call.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/samples.h"
#include "ops/scalar.h"
#include "ops/table.h"

namespace thalweg {
namespace {

constexpr const char* kNoGradient = "it changes weights; nothing is learned through it";

DType state_dtype(DType weight) { return weight == DType::f64 ? DType::f64 : DType::f32; }

// --- checks ---
void require_numbers(const InferContext& ctx, int64_t tensors, size_t columns) {
  const TensorMeta& m = ctx.in(0);
  const Shape wanted{tensors, static_cast<int64_t>(columns)};
  if (m.dtype != DType::f64 || m.shape != wanted || !ctx.in_row_major(0) ||
      m.device != Device::cpu()) {
    fail_invalid("{}: the numbers are {} {}; expected f64 {}, row-major, on the cpu", ctx.op().name,
                 name(m.dtype), to_string(m.shape), to_string(wanted));
  }
}

void require_like(const InferContext& ctx, size_t i, const char* role, const Shape& shape,
                  DType dtype) {
  const TensorMeta& m = ctx.in(i);
  if (m.shape != shape || m.dtype != dtype || !ctx.in_row_major(i)) {
    fail_invalid("{}: {} {} is {} {}, strides {}; expected {} {}, row-major", ctx.op().name, role,
                 i, name(m.dtype), to_string(m.shape), to_string(m.strides), name(dtype),
                 to_string(shape));
  }
}

void require_inputs(const InferContext& ctx, size_t wanted) {
  if (ctx.inputs() != wanted) {
    fail_invalid("{}: {} inputs; expected {}", ctx.op().name, ctx.inputs(), wanted);
  }
}

template <typename Attrs, typename Numbers>
void infer_update(const InferContext& ctx) {
  const Attrs& attrs = ctx.attrs<Attrs>();
  const auto n = static_cast<size_t>(attrs.tensors);
  const auto states = static_cast<size_t>(attrs.states());
  require_inputs(ctx, 1 + (2 + states) * n);
  require_numbers(ctx, attrs.tensors, sizeof(Numbers) / sizeof(double));
  for (size_t i = 0; i < n; ++i) {
    require_floating(ctx, 1 + i);
    const TensorMeta& weight = ctx.in(1 + i);
    require_like(ctx, 1 + i, "weight", weight.shape, weight.dtype);
    require_like(ctx, 1 + n + i, "gradient", weight.shape, weight.dtype);
    for (size_t s = 0; s < states; ++s) {
      require_like(ctx, 1 + (2 + s) * n + i, "state", weight.shape, state_dtype(weight.dtype));
    }
    for (size_t o = 0; ctx.outputs() && o <= states; ++o) {
      ctx.out(o * n + i).dtype = o ? state_dtype(weight.dtype) : weight.dtype;
      ctx.out(o * n + i).set_row_major(weight.shape);
    }
  }
}

template <typename Attrs>
size_t update_outputs(const void* attrs) {
  const Attrs& a = *static_cast<const Attrs*>(attrs);
  return static_cast<size_t>(a.tensors * (1 + a.states()));
}

// --- plain loops ---
// Calls element(numbers, weight, gradient, states...) with references to one number each, in the
// type of the arithmetic, and writes weight and states back.
template <typename Attrs, typename Numbers, size_t kStates, typename Element>
void for_each_element(const KernelContext& ctx, const std::array<bool, kStates>& present,
                      Element&& element) {
  const UpdateArguments<Attrs, Numbers> args(ctx);
  for (size_t i = 0; i < args.tensors(); ++i) {
    visit_dtype(args.weight(i).meta.dtype, [&]<typename T>(T) {
      using C = ComputeType<T>;
      if constexpr (std::is_floating_point_v<C>) {
        const C* old_state[kStates] = {};
        C* new_state[kStates] = {};
        for (size_t s = 0, at = 0; s < kStates; ++s) {
          if (!present[s]) continue;
          old_state[s] = args.state(at, i).template as<const C>();
          new_state[s] = args.new_state(at++, i).template as<C>();
        }
        const Numbers& numbers = args.numbers(i);
        for (int64_t e = 0; e < args.weight(i).count; ++e) {
          C weight = static_cast<C>(args.weight(i).template as<const T>()[e]);
          C g = static_cast<C>(args.gradient(i).template as<const T>()[e]) *
                static_cast<C>(numbers.gradient.scale);
          const C clip = static_cast<C>(numbers.gradient.clip);
          g = g > clip ? clip : g < -clip ? -clip : g;
          g += static_cast<C>(numbers.gradient.weight_decay) * weight;
          C state[kStates] = {};
          for (size_t s = 0; s < kStates; ++s) {
            if (present[s]) state[s] = old_state[s][e];
          }
          element(numbers, weight, g, state);
          args.new_weight(i).template as<T>()[e] = static_cast<T>(weight);
          for (size_t s = 0; s < kStates; ++s) {
            if (present[s]) new_state[s][e] = state[s];
          }
        }
      }
    });
  }
}

void reference_sgd(const KernelContext& ctx) {
  const bool momentum = ctx.attrs<SgdAttrs>().momentum;
  for_each_element<SgdAttrs, SgdNumbers, 1>(
      ctx, {momentum}, [&]<typename C>(const SgdNumbers& n, C& weight, C g, C(&state)[1]) {
        C direction = g;
        if (momentum) {
          state[0] = C(n.momentum) * state[0] + C(n.mix) * g;
          direction = C(n.from_gradient) * g + C(n.from_momentum) * state[0];
        }
        weight -= C(n.learning_rate) * direction;
      });
}

void reference_adam(const KernelContext& ctx) {
  for_each_element<AdamAttrs, AdamNumbers, 2>(
      ctx, {true, true}, []<typename C>(const AdamNumbers& n, C& weight, C g, C(&state)[2]) {
        auto& [m, v] = state;
        m += C(1 - n.beta1) * (g - m);
        v = C(n.beta2) * v + C(1 - n.beta2) * g * g;
        weight =
            C(n.keep) * weight - C(n.rate) * m / (C(n.root_factor) * std::sqrt(v) + C(n.epsilon));
      });
}

void reference_rmsprop(const KernelContext& ctx) {
  const RmsPropAttrs& attrs = ctx.attrs<RmsPropAttrs>();
  for_each_element<RmsPropAttrs, RmsPropNumbers, 3>(
      ctx, {true, attrs.centered, attrs.momentum},
      [&]<typename C>(const RmsPropNumbers& n, C& weight, C g, C(&state)[3]) {
        auto& [square, mean, buffer] = state;
        square = C(n.alpha) * square + C(1 - n.alpha) * g * g;
        C spread = square;
        if (attrs.centered) {
          mean += C(1 - n.alpha) * (g - mean);
          spread = square - mean * mean;
        }
        C direction = g / (std::sqrt(spread) + C(n.epsilon));
        if (attrs.momentum) direction = buffer = C(n.momentum) * buffer + direction;
        weight -= C(n.learning_rate) * direction;
      });
}

void reference_adagrad(const KernelContext& ctx) {
  for_each_element<AdaGradAttrs, AdaGradNumbers, 1>(
      ctx, {true}, []<typename C>(const AdaGradNumbers& n, C& weight, C g, C(&state)[1]) {
        state[0] += g * g;
        weight -= C(n.learning_rate) * g / (std::sqrt(state[0]) + C(n.epsilon));
      });
}

// --- samples ---
// Weights of several sizes; states are not negative, and hold more than the square of a mean that
// is as large as they, so that every root exists.
template <typename Attrs, typename Numbers>
void add_sample(Samples& s, const std::vector<Shape>& shapes, Attrs attrs,
                const std::vector<Numbers>& numbers) {
  attrs.tensors = static_cast<int64_t>(shapes.size());
  std::vector<double> rows;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const auto* row = reinterpret_cast<const double*>(&numbers[i % numbers.size()]);
    rows.insert(rows.end(), row, row + sizeof(Numbers) / sizeof(double));
  }
  constexpr int64_t columns = sizeof(Numbers) / sizeof(double);
  std::vector<Tensor> inputs{Tensor::of(rows, {attrs.tensors, columns})};
  for (int64_t list = 0; list < 2 + attrs.states(); ++list) {
    for (const Shape& shape : shapes) {
      const Tensor values = list < 2 ? s.spread(shape) : s.spread(shape, 0.1, 0.9);
      inputs.push_back(list < 2 ? values : values.to(state_dtype(s.dtype())));
    }
  }
  s.add(std::move(inputs), attrs);
}

const std::vector<Shape>& sample_shapes() {
  static const std::vector<Shape> shapes{{3, 5}, {}, {0}, {7}, {5, 3, 9}};
  return shapes;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void sample_sgd(Samples& s) {
  const std::vector<SgdNumbers> numbers{{{0.5, 0.4, 0.1}, 0.1, 0.9, 1, 0, 1},
                                        {{-1, kInfinity, 0}, 0.2, 0.8, 0.5, 1, 0.8}};
  add_sample(s, sample_shapes(), SgdAttrs{}, numbers);
  add_sample(s, sample_shapes(), SgdAttrs{.momentum = true}, numbers);
  add_sample(s, {}, SgdAttrs{}, numbers);
}

void sample_adam(Samples& s) {
  const std::vector<AdamNumbers> numbers{{{0.5, 0.4, 0.1}, 1, 0.9, 0.999, 0.01, 1.5, 1e-8},
                                         {{1, kInfinity, 0}, 0.99, 0.8, 0.95, 0.02, 1, 1e-3}};
  add_sample(s, sample_shapes(), AdamAttrs{}, numbers);
  add_sample(s, {{65}}, AdamAttrs{}, numbers);
  add_sample(s, {}, AdamAttrs{}, numbers);
}

void sample_rmsprop(Samples& s) {
  const std::vector<RmsPropNumbers> numbers{{{0.5, 0.4, 0.1}, 0.01, 0.9, 1e-8, 0.9},
                                            {{1, kInfinity, 0}, 0.02, 0.99, 1e-3, 0.5}};
  for (const RmsPropAttrs& attrs : {RmsPropAttrs{}, RmsPropAttrs{0, false, true}}) {
    add_sample(s, sample_shapes(), attrs, numbers);
  }
  add_sample(s, {}, RmsPropAttrs{}, numbers);
}

void sample_adagrad(Samples& s) {
  const std::vector<AdaGradNumbers> numbers{{{0.5, 0.4, 0.1}, 0.01, 1e-10},
                                            {{1, kInfinity, 0}, 0.02, 1e-3}};
  add_sample(s, sample_shapes(), AdaGradAttrs{}, numbers);
  add_sample(s, {{65}}, AdaGradAttrs{}, numbers);
  add_sample(s, {}, AdaGradAttrs{}, numbers);
}

// --- the norm ---
void infer_norm(const InferContext& ctx) {
  for (size_t i = 0; i < ctx.inputs(); ++i) {
    require_floating(ctx, i);
    require_like(ctx, i, "tensor", ctx.in(i).shape, ctx.in(i).dtype);
  }
  if (!ctx.outputs()) return;
  ctx.out().dtype = DType::f64;
  ctx.out().set_row_major({});
}

void reference_norm(const KernelContext& ctx) {
  double total = 0;
  for (size_t i = 0; i < ctx.inputs(); ++i) {
    visit_dtype(ctx.in(i).meta.dtype, [&]<typename T>(T) {
      using C = ComputeType<T>;
      if constexpr (std::is_floating_point_v<C>) {
        for (int64_t e = 0; e < ctx.in(i).count; ++e) {
          const auto x = static_cast<double>(static_cast<C>(ctx.in(i).template as<const T>()[e]));
          total += x * x;
        }
      }
    });
  }
  *ctx.out().as<double>() = std::sqrt(total);
}

void sample_norm(Samples& s) {
  s.add({s.spread({3, 5}), s.spread({}), s.spread({0}), s.spread({70})});
  s.add({s.spread({2000})});
  s.add({});
}

// --- the rows ---
template <typename Attrs, typename Numbers>
constexpr Op update_row(const char* name, const char* doc, void (*reference)(const KernelContext&),
                        void (*samples)(Samples&)) {
  return {.name = name,
          .doc = doc,
          .inputs = "tensors...",
          .attrs = attr_info<Attrs>,
          .flags = {.in_place = true, .internal = true},
          .outputs = Op::kVariableOutputs,
          .output_count = update_outputs<Attrs>,
          .infer = infer_update<Attrs, Numbers>,
          .no_gradient = kNoGradient,
          .reference = reference,
          .samples = samples};
}

const Op kSgd = update_row<SgdAttrs, SgdNumbers>(
    "sgd_update", "New weights by stochastic gradient descent.", reference_sgd, sample_sgd);
const Op kAdam = update_row<AdamAttrs, AdamNumbers>("adam_update", "New weights by Adam or AdamW.",
                                                    reference_adam, sample_adam);
const Op kRmsProp = update_row<RmsPropAttrs, RmsPropNumbers>(
    "rmsprop_update", "New weights by RMSProp.", reference_rmsprop, sample_rmsprop);
const Op kAdaGrad = update_row<AdaGradAttrs, AdaGradNumbers>(
    "adagrad_update", "New weights by AdaGrad.", reference_adagrad, sample_adagrad);
const Op kNorm{.name = "global_norm",
               .doc = "The root of the sum of squares over all elements of all tensors.",
               .inputs = "tensors...",
               .flags = {.reduces = true, .internal = true},
               .infer = infer_norm,
               .no_gradient = "it measures gradients; norm() has one",
               .reference = reference_norm,
               .samples = sample_norm};

}  // namespace

const Op& sgd_update_op() { return kSgd; }
const Op& adam_update_op() { return kAdam; }
const Op& rmsprop_update_op() { return kRmsProp; }
const Op& adagrad_update_op() { return kAdaGrad; }
const Op& global_norm_op() { return kNorm; }

std::span<const Op* const> optimizer_rows() {
  static constexpr const Op* rows[] = {&kSgd, &kAdam, &kRmsProp, &kAdaGrad, &kNorm};
  return rows;
}

void check_update(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs) {
  op.infer(InferContext(op, attrs, inputs, {}));
}

void run_update(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs,
                std::span<TensorImpl* const> outputs) {
  const KernelContext context(op, attrs, inputs, outputs);
  if (outputs.empty()) return;
  run_kernel(choose_kernel(context, outputs[0]->meta.device), context);
  for (TensorImpl* out : outputs) out->storage->bump_version();
}

}  // namespace thalweg
