// The stepped kernels of recurrent layers against the reference, on sizes with more than one block
// of units and group of sequences.

#include "ops/recurrent.h"

#include <gtest/gtest.h>

#include <thalweg/ops/samples.h>
#include <thalweg/ops/views.h>

#include "kernels/op_kernels.h"

namespace thalweg {
namespace {

struct Case {
  RecurrentCell cell;
  bool reverse = false;
  int64_t batch, steps, units;
  bool lengths = false, states = false, time_first = false;
};

Tensor lengths_of(const Case& c) {
  if (!c.lengths) return {};
  std::vector<int64_t> n;
  for (int64_t b = 0; b < c.batch; ++b) n.push_back(b * 7 % (c.steps + 1));
  return Tensor::of(n, {c.batch});
}

Tensor sequences(Samples& s, const Case& c, int64_t n, double scale = 1) {
  if (!c.time_first) return s.spread({c.batch, c.steps, n}, -scale, scale);
  return transpose(s.spread({c.steps, c.batch, n}, -scale, scale), 0, 1);
}

void check(const Case& c, DType dtype, Tolerance tolerance) {
  SCOPED_TRACE(std::string(name(dtype)) + ", cell " + std::to_string(static_cast<int>(c.cell)));
  Samples s(dtype);
  const RecurrentAttrs attrs{c.cell, c.reverse};
  const int64_t wide = gate_count(c.cell) * c.units;
  const bool lstm = c.cell == RecurrentCell::lstm;
  const auto state = [&](bool wanted) {
    return wanted ? s.spread({c.batch, c.units}, -1, 1) : Tensor();
  };
  const Tensor weight = s.spread({wide, c.units}, -0.2, 0.2);
  const Tensor bias = c.states ? s.spread({wide}, -1, 1) : Tensor();
  const Tensor h0 = state(c.states), c0 = state(c.states && lstm), lengths = lengths_of(c);
  const std::vector<Tensor> inputs{sequences(s, c, wide, 2), weight, bias, h0, c0, lengths};
  EXPECT_EQ(expect_kernels_agree("recurrent", &attrs, inputs, tolerance), 1);
  // What a forward pass might have left behind.
  const std::vector<Tensor> saved{sequences(s, c, c.units),
                                  sequences(s, c, activation_count(c.cell) * c.units),
                                  sequences(s, c, lstm ? c.units : 0)};
  const std::vector<Tensor> given{weight,
                                  bias,
                                  h0,
                                  c0,
                                  lengths,
                                  saved[0],
                                  saved[1],
                                  saved[2],
                                  sequences(s, c, c.units),
                                  state(c.states),
                                  state(c.states && lstm),
                                  Tensor(),
                                  Tensor()};
  EXPECT_EQ(expect_kernels_agree("recurrent_vjp", &attrs, given, tolerance), 1);
}

constexpr RecurrentCell kCells[] = {RecurrentCell::lstm, RecurrentCell::gru, RecurrentCell::tanh,
                                    RecurrentCell::relu};

TEST(RecurrentKernels, AgreeWithTheReferenceOnBlocksAndGroups) {
  for (const RecurrentCell cell : kCells) {
    check({.cell = cell, .batch = 70, .steps = 3, .units = 150}, DType::f32, {2e-4, 2e-5});
    check({.cell = cell, .reverse = true, .batch = 5, .steps = 4, .units = 33, .states = true},
          DType::f64, {1e-11, 1e-12});
  }
}

TEST(RecurrentKernels, AgreeWithTheReferenceWhereSequencesEnd) {
  for (const RecurrentCell cell : kCells) {
    Case c{.cell = cell, .batch = 9, .steps = 6, .units = 40, .lengths = true, .states = true};
    check(c, DType::f32, {1e-4, 1e-5});
    c.reverse = true;
    check(c, DType::f32, {1e-4, 1e-5});
    c.time_first = true;
    check(c, DType::f32, {1e-4, 1e-5});
    check(c, DType::bf16, {3e-2, 3e-2});
  }
}

TEST(RecurrentKernels, TakeOneSequenceOfOneUnit) {
  for (const RecurrentCell cell : kCells)
    check({.cell = cell, .batch = 1, .steps = 2, .units = 1}, DType::f32, {1e-5, 1e-5});
}

}  // namespace
}  // namespace thalweg
