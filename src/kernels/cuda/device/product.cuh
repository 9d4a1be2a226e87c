#pragma once

// Products of any strides and dtype, for what cuBLASLt does not take.

#include "kernels/cuda/device/elements.cuh"

namespace thalweg::cuda {

/// A thread for each result, summed as by the reference: in f64, integers wrap around.
template <typename T>
void plain_product(const ProductArgs& args) {
  using Sum = std::conditional_t<std::is_floating_point_v<ComputeType<T>>, double, uint64_t>;
  const int64_t matrix = args.m * args.n;
  for (int64_t i = first_item(); i < matrix * args.batches.count; i += item_step()) {
    const int64_t batch = i / matrix, row = i % matrix / args.n, column = i % args.n;
    const Places<3> places(args.batches, batch);
    const char* a = args.a + places.at[1] + row * args.a_row;
    const char* b = args.b + places.at[2] + column * args.b_column;
    Sum total = args.bias ? static_cast<Sum>(load<T>(args.bias + column * args.bias_step).v) : 0;
    for (int64_t k = 0; k < args.k; ++k) {
      total += static_cast<Sum>(load<T>(a + k * args.a_column).v) *
               static_cast<Sum>(load<T>(b + k * args.b_row).v);
    }
    char* out = args.out + places.at[0];
    store<T>(out + (row * args.n + column) * static_cast<int64_t>(sizeof(T)), total);
  }
}

}  // namespace thalweg::cuda
