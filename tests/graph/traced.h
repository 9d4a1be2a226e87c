#pragma once

#include <algorithm>
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include "graph/program.h"
#include "graph/trace.h"

namespace thalweg {

/// A function of one tensor as a graph, and what it gave.
struct Traced {
  Traced(const Tensor& x, const std::function<Tensor(const Tensor&)>& f) : argument(x) {
    const TensorImpl* const in[] = {x.impl()};
    Trace trace(in);
    std::vector<Tensor> results{f(x)};
    trace.finish(results);
    EXPECT_EQ(trace.refusal(), "");
    graph = graph_of(trace);
    expected = results[0].clone();
  }

  Tensor replay() {
    Program program(graph);
    const TensorImpl* const in[] = {argument.impl()};
    EXPECT_EQ(program.refusal(in), nullptr);
    Tensor result[1];
    program.replay(in, result);
    return result[0];
  }
  /// The replay has the bits of the traced call.
  void expect_same() {
    const Tensor got = replay();
    ASSERT_EQ(got.shape(), expected.shape());
    EXPECT_EQ(std::memcmp(got.contiguous().impl()->data, expected.impl()->data,
                          static_cast<size_t>(got.size()) * item_size(got.dtype())),
              0);
  }
  int64_t count(const char* op) const {
    return std::ranges::count_if(graph.records, [&](const PlanRecord& r) {
      return r.op && std::string_view(r.op->name) == op;
    });
  }

  Tensor argument;
  Tensor expected;
  PlanGraph graph;
};

}  // namespace thalweg
