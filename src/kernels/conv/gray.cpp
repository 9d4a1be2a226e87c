#include "kernels/conv/gray.h"

#include <algorithm>

#include <thalweg/base/threads.h>

#include "device/scratch.h"
#include "kernels/conv/gray_loops.h"
#include "kernels/gemm/pack.h"

namespace thalweg::conv::gray {
namespace {

constexpr int64_t kMostOutputs = 32;

int64_t tap_count(const ConvProblem& p) { return p.kernel[0] * p.kernel[1] * p.kernel[2]; }

int64_t row_count(const ConvProblem& p) { return p.out[0] * p.out[1]; }

int64_t rounded_width(const ConvProblem& p) { return (p.out[2] + kGroup - 1) / kGroup * kGroup; }

double image_ns(const ConvProblem& p) {
  constexpr double kProductsPerNs = 20;
  return static_cast<double>(row_count(p) * rounded_width(p) * p.out_channels * tap_count(p)) /
         kProductsPerNs;
}

// An image with zeros around it, and where rows of results and taps find its elements.
class PaddedImage {
 public:
  explicit PaddedImage(const ConvProblem& p)
      : p_(p),
        height_(p.in[1] + 2 * p.padding[1]),
        width_(p.in[2] + 2 * p.padding[2]),
        elements_((p.in[0] + 2 * p.padding[0]) * height_ * width_ + kGroup, 0.0f),
        rows_(row_count(p)),
        taps_(tap_count(p)) {
    for (int64_t d = 0; d < p.out[0]; ++d) {
      for (int64_t h = 0; h < p.out[1]; ++h) {
        rows_[d * p.out[1] + h] = at(d * p.stride[0], h * p.stride[1], 0);
      }
    }
    for (int64_t t = 0; t < taps_.size(); ++t) {
      const int64_t plane = t / (p.kernel[1] * p.kernel[2]);
      taps_[t] = at(plane * p.dilation[0], t / p.kernel[2] % p.kernel[1] * p.dilation[1],
                    t % p.kernel[2] * p.dilation[2]);
    }
  }

  void fill(const float* x) {
    for (int64_t d = 0; d < p_.in[0]; ++d) {
      for (int64_t h = 0; h < p_.in[1]; ++h) {
        const float* from = x + d * p_.x.spatial[0] + h * p_.x.spatial[1];
        float* to = elements_.data() + at(d + p_.padding[0], h + p_.padding[1], p_.padding[2]);
        if (p_.x.spatial[2] == 1) {
          std::copy_n(from, p_.in[2], to);
        } else {
          for (int64_t w = 0; w < p_.in[2]; ++w) to[w] = from[w * p_.x.spatial[2]];
        }
      }
    }
  }

  const float* elements() const { return elements_.data(); }
  const int64_t* rows() const { return rows_.data(); }
  const int64_t* taps() const { return taps_.data(); }

 private:
  int64_t at(int64_t d, int64_t h, int64_t w) const { return (d * height_ + h) * width_ + w; }

  const ConvProblem& p_;
  int64_t height_, width_;
  Scratch<float> elements_;
  Scratch<int64_t> rows_, taps_;
};

// Position of tap t in the weights of one output.
int64_t weight_at(const ConvProblem& p, int64_t t) {
  return t / (p.kernel[1] * p.kernel[2]) * p.w.spatial[0] +
         t / p.kernel[2] % p.kernel[1] * p.w.spatial[1] + t % p.kernel[2] * p.w.spatial[2];
}

// Calls f(row, position in y) for the rows of results of an image.
template <typename F>
void for_each_row_of_y(const ConvProblem& p, int64_t image, F&& f) {
  for (int64_t d = 0; d < p.out[0]; ++d) {
    for (int64_t h = 0; h < p.out[1]; ++h) {
      f(d * p.out[1] + h, image * p.y.outer + d * p.y.spatial[0] + h * p.y.spatial[1]);
    }
  }
}

// Images that one tile takes, and the number of tiles.
struct Chunks {
  explicit Chunks(const ConvProblem& p) : images((p.batch + kMost - 1) / kMost), batch(p.batch) {}
  static constexpr int64_t kMost = 8;
  int64_t images, batch;

  int64_t count() const { return (batch + images - 1) / images; }
  int64_t begin(int64_t i) const { return i * images; }
  int64_t end(int64_t i) const { return std::min(begin(i) + images, batch); }
};

}  // namespace

const char* refuse(const ConvProblem& p) {
  if (p.in_channels != 1 || p.groups != 1) return "more than one input channel";
  if (p.out_channels > kMostOutputs) return "more than 32 result channels";
  if (p.stride[2] != 1) return "a stride along rows";
  if (p.out[2] * 4 < kGroup) return "rows of fewer than 8 pixels";
  return nullptr;
}

void forward(const ConvProblem& p, const float* x, const float* w, const float* bias, float* y) {
  const int64_t outputs = p.out_channels, taps = tap_count(p), width = rounded_width(p);
  const Scratch<float> weights(taps * outputs);
  for (int64_t t = 0; t < taps; ++t) {
    for (int64_t o = 0; o < outputs; ++o) {
      weights.data()[t * outputs + o] = w[weight_at(p, t) + o * p.w.outer];
    }
  }
  const Chunks chunks(p);
  const double ns = image_ns(p) * static_cast<double>(chunks.images);
  parallel_tiles(chunks.count(), ns, [&](int64_t chunk) {
    PaddedImage image(p);
    const Scratch<float> sums(outputs * width);
    for (int64_t n = chunks.begin(chunk); n < chunks.end(chunk); ++n) {
      image.fill(x + n * p.x.outer);
      for_each_row_of_y(p, n, [&](int64_t row, int64_t at) {
        row_product({image.elements() + image.rows()[row], image.taps(), taps, outputs, p.out[2],
                     weights.data(), bias, sums.data(), width});
        gemm::pack(gemm::Matrix<float>{sums.data(), 1, width}, p.out[2], outputs, y + at,
                   p.y.spatial[2]);
      });
    }
  });
}

void weight_gradient(const ConvProblem& p, const float* x, const float* y, float* w) {
  const int64_t outputs = p.out_channels, taps = tap_count(p), width = rounded_width(p);
  const int64_t size = outputs * taps * kLanes;
  const Chunks chunks(p);
  const Scratch<float> sums(chunks.count() * size);
  const double ns = image_ns(p) * static_cast<double>(chunks.images);
  parallel_tiles(chunks.count(), ns, [&](int64_t chunk) {
    float* to = sums.data() + chunk * size;
    std::fill_n(to, size, 0.0f);
    PaddedImage image(p);
    Scratch<float> gradients(row_count(p) * outputs * width, 0.0f);
    for (int64_t n = chunks.begin(chunk); n < chunks.end(chunk); ++n) {
      image.fill(x + n * p.x.outer);
      for_each_row_of_y(p, n, [&](int64_t row, int64_t at) {
        gemm::pack(gemm::Matrix<float>{y + at, 1, p.y.spatial[2]}, outputs, p.out[2],
                   gradients.data() + row * outputs * width, width);
      });
      tap_sums({image.elements(), image.rows(), row_count(p), image.taps(), taps, outputs, p.out[2],
                gradients.data(), width, to});
    }
  });
  for (int64_t chunk = 1; chunk < chunks.count(); ++chunk) {
    for (int64_t i = 0; i < size; ++i) sums.data()[i] += sums.data()[chunk * size + i];
  }
  for (int64_t i = 0; i < outputs * taps; ++i) {
    float total = 0;
    for (int64_t l = 0; l < kLanes; ++l) total += sums.data()[i * kLanes + l];
    w[i / taps * p.w.outer + weight_at(p, i % taps)] = total;
  }
}

}  // namespace thalweg::conv::gray
