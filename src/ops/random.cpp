#include "ops/random.h"

#include <cmath>

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

constexpr const char* kDrawn = "it draws numbers";

void set_output(const InferContext& ctx, const Shape& shape, DType dtype) {
  checked_element_count(ctx.op().name, shape, item_size(dtype));
  ctx.out().dtype = dtype;
  ctx.out().set_row_major(shape);
}

void check_probability(const InferContext& ctx, double p) {
  if (!(p >= 0 && p <= 1)) {
    fail_invalid("{}: probability {} is outside 0 to 1", ctx.op().name, p);
  }
}

void infer_random(const InferContext& ctx) {
  const RandomAttrs& a = ctx.attrs<RandomAttrs>();
  if (!is_floating(a.dtype)) {
    fail_invalid("{}: dtype {}; it gives floating elements; see random_integers", ctx.op().name,
                 name(a.dtype));
  }
  if (!std::isfinite(a.a) || !std::isfinite(a.b)) {
    fail_invalid("{}: {} and {} must be finite", ctx.op().name, a.a, a.b);
  }
  set_output(ctx, a.shape, a.dtype);
}

void infer_random_uniform(const InferContext& ctx) {
  const RandomAttrs& a = ctx.attrs<RandomAttrs>();
  if (!(a.a <= a.b)) fail_invalid("random_uniform: low {} is above high {}", a.a, a.b);
  infer_random(ctx);
}

void infer_random_normal(const InferContext& ctx) {
  const RandomAttrs& a = ctx.attrs<RandomAttrs>();
  if (a.b < 0) fail_invalid("random_normal: standard deviation {} is negative", a.b);
  infer_random(ctx);
}

void infer_random_bernoulli(const InferContext& ctx) {
  const RandomAttrs& a = ctx.attrs<RandomAttrs>();
  check_probability(ctx, a.a);
  set_output(ctx, a.shape, a.dtype);
}

bool holds(DType dtype, int64_t value) {
  if (dtype == DType::i64) return true;
  const int bits = 8 * static_cast<int>(item_size(dtype));
  const int64_t low = dtype == DType::u8 ? 0 : -(int64_t{1} << (bits - 1));
  return value >= low && value < low + (int64_t{1} << bits);
}

void infer_random_integers(const InferContext& ctx) {
  const RandomIntegerAttrs& a = ctx.attrs<RandomIntegerAttrs>();
  if (!is_integer(a.dtype)) {
    fail_invalid("{}: dtype {}; it gives integers", ctx.op().name, name(a.dtype));
  }
  const bool empty = element_count(a.shape) == 0;
  if (a.low >= a.high && !empty) {
    fail_invalid("{}: no integers from {} up to but not {}", ctx.op().name, a.low, a.high);
  }
  if (!empty && (!holds(a.dtype, a.low) || !holds(a.dtype, a.high - 1))) {
    fail_invalid("{}: the range {} to {} does not fit in {}", ctx.op().name, a.low, a.high - 1,
                 name(a.dtype));
  }
  set_output(ctx, a.shape, a.dtype);
}

void infer_dropout(const InferContext& ctx) {
  require_floating(ctx, 0);
  check_probability(ctx, ctx.attrs<DropoutAttrs>().probability);
  infer_like_input(ctx);
}

// The mask is drawn again, from the same numbers.
void vjp_dropout(VjpContext& ctx) {
  ctx.set(0, call(ctx.op(), ctx.attrs<DropoutAttrs>(), ctx.grad()));
}

void sample_uniform(Samples& s) {
  s.add({}, RandomAttrs{{3, 5}, s.dtype(), -1, 2, 7, 0});
  s.add({}, RandomAttrs{{}, s.dtype(), 0, 1, 7, 3});
  s.add({}, RandomAttrs{{0, 2}, s.dtype(), 0, 1, 7, 0});
  s.add({}, RandomAttrs{{1021}, s.dtype(), 0.5, 0.75, 1, uint64_t{1} << 33});
}

void sample_bernoulli(Samples& s) {
  s.add({}, RandomAttrs{{3, 5}, s.dtype(), 0.25, 1, 7, 0});
  s.add({}, RandomAttrs{{4}, DType::boolean, 1, 1, 7, 0});
  s.add({}, RandomAttrs{{0}, s.dtype(), 0.5, 1, 7, 0});
}

void sample_integers(Samples& s) {
  s.add({}, RandomIntegerAttrs{{3, 5}, DType::i64, -3, 4, 7, 0});
  s.add({}, RandomIntegerAttrs{{4}, DType::u8, 0, 256, 7, 0});
  s.add({}, RandomIntegerAttrs{{0}, DType::i32, 0, 1, 7, 0});
}

void sample_permutation(Samples& s) {
  s.add({}, RandomIntegerAttrs{{10}, DType::i64, 0, 10, 7, 0});
  s.add({}, RandomIntegerAttrs{{1}, DType::i32, 0, 1, 7, 0});
  s.add({}, RandomIntegerAttrs{{0}, DType::i64, 0, 0, 7, 0});
}

void sample_dropout(Samples& s) {
  s.add({s.spread({3, 5})}, DropoutAttrs{0.5, 7, 0});
  s.add({s.spread({2, 3, 4})}, DropoutAttrs{0.2, 7, 9});
  s.add({permute(s.spread({2, 3, 5, 2}), {0, 3, 1, 2})}, DropoutAttrs{0.3, 7, 0});
  s.add({s.spread({})}, DropoutAttrs{1, 7, 0});
  s.add({s.spread({0, 2})}, DropoutAttrs{0.5, 7, 0});
}

const Op kRandomUniform{.name = "random_uniform",
                        .doc = "Numbers evenly distributed over a range.",
                        .inputs = "",
                        .attrs = attr_info<RandomAttrs>,
                        .flags = {.random = true},
                        .infer = infer_random_uniform,
                        .no_gradient = kDrawn,
                        .reference = reference_random_uniform,
                        .samples = sample_uniform};

const Op kRandomNormal{.name = "random_normal",
                       .doc = "Normally distributed numbers.",
                       .inputs = "",
                       .attrs = attr_info<RandomAttrs>,
                       .flags = {.random = true},
                       .infer = infer_random_normal,
                       .no_gradient = kDrawn,
                       .reference = reference_random_normal,
                       .samples = sample_uniform};

const Op kRandomBernoulli{.name = "random_bernoulli",
                          .doc = "1 with a given probability, else 0.",
                          .inputs = "",
                          .attrs = attr_info<RandomAttrs>,
                          .flags = {.random = true},
                          .infer = infer_random_bernoulli,
                          .no_gradient = kDrawn,
                          .reference = reference_random_bernoulli,
                          .samples = sample_bernoulli};

const Op kRandomIntegers{.name = "random_integers",
                         .doc = "Integers of a range, each equally likely.",
                         .inputs = "",
                         .attrs = attr_info<RandomIntegerAttrs>,
                         .flags = {.random = true},
                         .infer = infer_random_integers,
                         .no_gradient = kDrawn,
                         .reference = reference_random_integers,
                         .samples = sample_integers};

const Op kRandomPermutation{.name = "random_permutation",
                            .doc = "The numbers from 0 on in random order.",
                            .inputs = "",
                            .attrs = attr_info<RandomIntegerAttrs>,
                            .flags = {.random = true},
                            .infer = infer_random_integers,
                            .no_gradient = kDrawn,
                            .reference = reference_random_permutation,
                            .samples = sample_permutation};

const Op kDropout{.name = "dropout",
                  .doc = "Elements set to 0 with a given probability, the others scaled up.",
                  .inputs = "x",
                  .attrs = attr_info<DropoutAttrs>,
                  .flags = {.random = true},
                  .infer = infer_dropout,
                  .vjp = vjp_dropout,
                  .reference = reference_dropout,
                  .samples = sample_dropout};

Tensor draw(const Op& op, const Shape& shape, double a, double b, TensorOptions options) {
  const int64_t count = checked_element_count(op.name, shape, item_size(options.dtype));
  const RandomState state = reserve_numbers(op, count, options.dtype);
  const Tensor drawn = call(op, RandomAttrs{shape, options.dtype, a, b, state.seed, state.offset});
  return drawn.to(options.device);
}

}  // namespace

RandomState reserve_numbers(const Op& op, int64_t count, DType dtype) {
  int64_t per_block = 4;
  if (&op == &kRandomIntegers || (op.attrs == attr_info<RandomAttrs> && dtype == DType::f64))
    per_block = 2;
  auto blocks = static_cast<uint64_t>((count + per_block - 1) / per_block);
  if (&op == &kRandomPermutation) blocks = 1;  // which seeds the whole order
  const RandomState first = reserve_random(blocks);
  if (Tracer* tracer = thread_mode().tracer) tracer->drew(first, blocks);
  return first;
}

namespace {

void check_probabilities(const Tensor& probability) {
  const Tensor host = probability.detach().to(Device::cpu()).contiguous();
  visit_dtype(host.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* values = host.data<T>();
    for (int64_t i = 0; i < host.size(); ++i) {
      const auto p = static_cast<double>(values[i]);
      if (p >= 0 && p <= 1) continue;
      fail_invalid("random_bernoulli: probability {} of element {} is outside 0 to 1", p, i);
    }
  });
}

}  // namespace

Tensor random_uniform(const Shape& shape, double low, double high, TensorOptions options) {
  return draw(kRandomUniform, shape, low, high, options);
}

Tensor random_normal(const Shape& shape, double mean, double deviation, TensorOptions options) {
  return draw(kRandomNormal, shape, mean, deviation, options);
}

Tensor random_bernoulli(const Shape& shape, double probability, TensorOptions options) {
  return draw(kRandomBernoulli, shape, probability, 1, options);
}

Tensor random_bernoulli(const Tensor& probability) {
  check_probabilities(probability);
  const Tensor drawn = random_uniform(
      probability.shape(), 0, 1,
      {probability.dtype() == DType::f64 ? DType::f64 : DType::f32, probability.device()});
  return cast(drawn < probability, probability.dtype());
}

Tensor random_integers(const Shape& shape, int64_t low, int64_t high, TensorOptions options) {
  const int64_t count = checked_element_count("random_integers", shape, item_size(options.dtype));
  const RandomState state = reserve_numbers(kRandomIntegers, count, options.dtype);
  return call(kRandomIntegers,
              RandomIntegerAttrs{shape, options.dtype, low, high, state.seed, state.offset})
      .to(options.device);
}

Tensor random_permutation(int64_t count, TensorOptions options) {
  const RandomState state = reserve_numbers(kRandomPermutation, count, options.dtype);
  return call(kRandomPermutation,
              RandomIntegerAttrs{{count}, options.dtype, 0, count, state.seed, state.offset})
      .to(options.device);
}

Tensor dropout(const Tensor& x, double probability) {
  if (!thread_mode().training || probability == 0) return x;
  const RandomState state = reserve_numbers(kDropout, x.size(), x.dtype());
  return call(kDropout, DropoutAttrs{probability, state.seed, state.offset}, x);
}

std::span<const Op* const> random_rows() {
  static constexpr const Op* rows[] = {&kRandomUniform,  &kRandomNormal,      &kRandomBernoulli,
                                       &kRandomIntegers, &kRandomPermutation, &kDropout};
  return rows;
}

}  // namespace thalweg
