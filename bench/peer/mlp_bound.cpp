// What a hand-written program can reach on the work of mlp: oneDNN's sgemm, fused loops, one
// thread, no loader. bench/compare builds it with the libraries that Thalweg was built with.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <oneapi/dnnl/dnnl.h>

namespace {

using Floats = std::vector<float>;

constexpr int kBatch = 64, kPixels = 784, kHidden = 64, kClasses = 10, kSamples = 60000;
constexpr float kRate = .01f / kBatch;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Floats random_weights(int size) {
  Floats weights(size);
  for (float& w : weights) w = (rand() / static_cast<float>(RAND_MAX) - .5f) * .2f;
  return weights;
}

// c [m, n] = scale * a b + beta * c, with a or b transposed.
void product(char ta, char tb, int m, int n, int k, float scale, const float* a, const float* b,
             float beta, float* c) {
  dnnl_sgemm(ta, tb, m, n, k, scale, a, ta == 'N' ? k : m, b, tb == 'N' ? n : k, beta, c, n);
}

struct Layer {
  int inputs, outputs;
  Floats weight = random_weights(inputs * outputs);
  Floats bias = Floats(outputs);
  Floats out = Floats(kBatch * outputs);
  Floats slope = Floats(kBatch * outputs);  // of the loss, by `out`

  void forward(const float* x, bool relu) {
    for (int i = 0; i < kBatch; ++i) memcpy(&out[i * outputs], bias.data(), outputs * 4);
    product('N', 'N', kBatch, outputs, inputs, 1, x, weight.data(), 1, out.data());
    if (relu) {
      for (float& v : out) v = std::max(v, 0.f);
    }
  }
  void slope_of_input(Layer& before) {
    product('N', 'T', kBatch, inputs, outputs, 1, slope.data(), weight.data(), 0,
            before.slope.data());
    for (int i = 0; i < kBatch * inputs; ++i) {
      if (before.out[i] <= 0) before.slope[i] = 0;
    }
  }
  void update(const float* x) {
    product('T', 'N', inputs, outputs, kBatch, -kRate, x, slope.data(), 1, weight.data());
    for (int i = 0; i < kBatch; ++i) {
      for (int j = 0; j < outputs; ++j) bias[j] -= kRate * slope[i * outputs + j];
    }
  }
};

// The batch's loss; `last.slope` gets softmax minus label.
double cross_entropy(Layer& last, const int* labels) {
  double loss = 0;
  for (int i = 0; i < kBatch; ++i) {
    const float* o = &last.out[i * kClasses];
    float* g = &last.slope[i * kClasses];
    const float largest = *std::max_element(o, o + kClasses);
    float sum = 0;
    for (int c = 0; c < kClasses; ++c) sum += g[c] = expf(o[c] - largest);
    for (int c = 0; c < kClasses; ++c) g[c] /= sum;
    loss -= logf(g[labels[i]] + 1e-30f);
    g[labels[i]] -= 1;
  }
  return loss;
}

}  // namespace

int main() {
  Floats images(static_cast<size_t>(kSamples) * kPixels);
  std::vector<int> labels(kSamples);
  for (float& x : images) x = (rand() % 256) / 255.f;
  for (int& y : labels) y = rand() % kClasses;
  Layer a{kPixels, kHidden}, b{kHidden, kHidden}, c{kHidden, kClasses};
  double best = 1e9, loss = 0;
  for (int epoch = 0; epoch < 4; ++epoch) {
    const double begin = now();
    loss = 0;
    for (int s = 0; s + kBatch <= kSamples; s += kBatch) {
      const float* x = &images[static_cast<size_t>(s) * kPixels];
      a.forward(x, true);
      b.forward(a.out.data(), true);
      c.forward(b.out.data(), false);
      loss += cross_entropy(c, &labels[s]);
      c.slope_of_input(b);
      b.slope_of_input(a);
      c.update(b.out.data());
      b.update(a.out.data());
      a.update(x);
    }
    best = std::min(best, now() - begin);
  }
  printf(
      "{\"work\": \"mlp\", \"mode\": \"bound\", \"epoch_s\": %.6f, \"loss\": %.4f, \"threads\": "
      "1}\n",
      best, loss / kSamples);
}
