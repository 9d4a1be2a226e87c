// Products of the sizes that small nets have: our kernels, the op with all its checks, and oneDNN's
// sgemm, in one run. Single-threaded; `gemm_micro SECONDS` sets the time given to each row.

#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include <thalweg/base/threads.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/views.h>

#include "kernels/gemm/product.h"
#include "stopwatch.h"

#if THALWEG_WITH_ONEDNN
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#endif

namespace {

using thalweg::Tensor;
using thalweg::gemm::Product;

// C [m, n] = A [m, k] B [k, n]; an operand may be stored transposed; a bias makes it a linear op.
struct Row {
  const char* what;
  int64_t m, n, k;
  bool a_transposed, b_transposed, bias;
};

constexpr Row kMlp[] = {
    {"x W1^T + b", 64, 64, 784, false, true, true}, {"h W2^T + b", 64, 64, 64, false, true, true},
    {"h W3^T + b", 64, 10, 64, false, true, true},  {"g W3", 64, 64, 10, false, false, false},
    {"g W2", 64, 64, 64, false, false, false},      {"g^T h", 10, 64, 64, true, false, false},
    {"g^T h", 64, 64, 64, true, false, false},      {"g^T x", 64, 784, 64, true, false, false},
};

constexpr Row kOthers[] = {
    {"tiny", 4, 4, 4, false, false, false},        {"tiny linear", 4, 4, 4, false, true, true},
    {"tiny g^T x", 4, 4, 4, true, false, false},   {"16", 16, 16, 16, false, false, false},
    {"one row", 1, 64, 784, false, true, true},    {"one column", 64, 1, 784, false, true, true},
    {"128", 128, 128, 128, false, false, false},   {"256", 256, 256, 256, false, false, false},
    {"256 NT", 256, 256, 256, false, true, false}, {"512", 512, 512, 512, false, false, false},
    {"512 NT", 512, 512, 512, false, true, false}, {"512 TN", 512, 512, 512, true, false, false},
    {"wide", 64, 1024, 1024, false, true, true},   {"1024", 1024, 1024, 1024, false, false, false},
};

// Of the transformer and the LSTM of the benches: 2,048 and 640 rows.
constexpr Row kWide[] = {
    {"gpt out", 2048, 128, 128, false, true, true},
    {"gpt up", 2048, 512, 128, false, true, true},
    {"gpt down", 2048, 128, 512, false, true, true},
    {"gpt g W", 2048, 128, 128, false, false, false},
    {"gpt g W", 2048, 512, 128, false, false, false},
    {"gpt g W", 2048, 128, 512, false, false, false},
    {"gpt g^T x", 128, 128, 2048, true, false, false},
    {"gpt g^T x", 128, 512, 2048, true, false, false},
    {"gpt g^T x", 512, 128, 2048, true, false, false},
    {"gpt g^T x", 65, 128, 2048, true, false, false},
    {"lstm x W^T", 640, 1200, 150, false, true, true},
    {"lstm g^T x", 1200, 150, 640, true, false, false},
    {"lstm g^T x", 1200, 300, 640, true, false, false},
};

Tensor filled(int64_t rows, int64_t columns) {
  std::vector<float> values(static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) * 0.1f - 0.8f;
  return Tensor::of(values, {rows, columns});
}

// Returns {ours, op, sgemm} in nanoseconds.
std::vector<double> measure(const Row& r, double seconds) {
  const Tensor a = r.a_transposed ? filled(r.k, r.m) : filled(r.m, r.k);
  const Tensor b = r.b_transposed ? filled(r.n, r.k) : filled(r.k, r.n);
  const Tensor bias = filled(1, r.n).reshape({r.n});
  const Tensor c = Tensor::empty({r.m, r.n});
  Product<float> p;
  p.m = r.m, p.n = r.n, p.k = r.k;
  p.c = c.mutable_data<float>();
  p.c_row = r.n;
  p.a = {a.data<float>(), r.a_transposed ? 1 : r.k, r.a_transposed ? r.m : 1};
  p.b = {b.data<float>(), r.b_transposed ? 1 : r.n, r.b_transposed ? r.k : 1};
  if (r.bias) p.bias = bias.data<float>();

  std::vector<std::function<void()>> candidates;
  candidates.push_back([&] { thalweg::gemm::multiply(p); });
  const Tensor left = r.a_transposed ? transpose(a) : a;
  const Tensor right = r.b_transposed ? transpose(b) : b;
  candidates.push_back([&] { r.bias ? linear(a, b, bias) : matmul(left, right); });
#if THALWEG_WITH_ONEDNN
  candidates.push_back([&] {
    if (r.bias) {
      for (int64_t i = 0; i < r.m; ++i) std::copy_n(p.bias, r.n, p.c + i * r.n);
    }
    dnnl_sgemm(r.a_transposed ? 'T' : 'N', r.b_transposed ? 'T' : 'N', r.m, r.n, r.k, 1, p.a.data,
               r.a_transposed ? r.m : r.k, p.b.data, r.b_transposed ? r.k : r.n, r.bias ? 1 : 0,
               p.c, r.n);
  });
#endif
  return bench::race(candidates, seconds);
}

std::vector<double> print(const Row& r, double seconds) {
  std::vector<double> ns = measure(r, seconds);
  ns.resize(3);
  const double flops = 2.0 * static_cast<double>(r.m * r.n * r.k);
  fmt::print("{:<12} {:>4} x {:>4} x {:>4} {:>12.0f} ns {:>6.1f} GF {:>12.0f} ns {:>12.0f} ns\n",
             r.what, r.m, r.n, r.k, ns[0], flops / ns[0], ns[1], ns[2]);
  return ns;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.1;
  thalweg::set_num_threads(1);
#if THALWEG_WITH_ONEDNN
  omp_set_num_threads(1);
#endif
  fmt::print("{:<12} {:>4} x {:>4} x {:>4} {:>15} {:>25} {:>15}\n", "product", "m", "n", "k",
             "ours", "the op", "sgemm");
  double total[3] = {};
  for (const Row& row : kMlp) {
    const std::vector<double> ns = print(row, seconds);
    for (size_t i = 0; i < 3; ++i) total[i] += ns[i];
  }
  fmt::print("{:<31} {:>12.0f} ns {:>22.0f} ns {:>12.0f} ns\n", "the net's step", total[0],
             total[1], total[2]);
  for (const Row& row : kOthers) print(row, seconds);
  for (const Row& row : kWide) print(row, seconds);
}
