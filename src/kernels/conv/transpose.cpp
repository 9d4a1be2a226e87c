#include <thalweg/base/threads.h>

#include "kernels/conv/columns.h"
#include "kernels/conv/columns_conv.h"
#include "kernels/conv/cost.h"
#include "kernels/conv/weights.h"

namespace thalweg::conv {
namespace {

// A range [begin, end).
struct Range {
  int64_t begin, end;
  int64_t size() const { return std::max<int64_t>(end - begin, 0); }
};

// The results along an axis whose windows reach positions [begin, end) of x.
Range reaching(const ConvProblem& p, int axis, Range x) {
  const int64_t reach = p.dilation[axis] * (p.kernel[axis] - 1);
  const int64_t first = x.begin + p.padding[axis] - reach;
  const int64_t last = x.end - 1 + p.padding[axis];
  const int64_t stride = p.stride[axis];
  return {first <= 0 ? 0 : (first + stride - 1) / stride,
          last < 0 ? 0 : std::min(last / stride + 1, p.out[axis])};
}

// The result whose tap k lies on position i of x, or -1.
int64_t result_at(const ConvProblem& p, int axis, int64_t i, int64_t k) {
  const int64_t from_start = i + p.padding[axis] - k * p.dilation[axis];
  if (from_start < 0 || from_start % p.stride[axis] != 0) return -1;
  const int64_t o = from_start / p.stride[axis];
  return o < p.out[axis] ? o : -1;
}

// The patches' products for a band of rows of x, and the sums of those that meet in a pixel.
template <typename T>
class Band {
 public:
  Band(const ConvProblem& p, int64_t most_rows)
      : p_(p),
        size_(patch_size(p)),
        products_(p.out[0] * std::min(p.out[1], reaching_at_most(most_rows)) * p.out[2] * size_ +
                  int64_t{kSlack}),
        bases_(p.kernel[0] * p.kernel[1]),
        offsets_(p.in[2] * p.kernel[2]),
        first_(p.in[2] + 1) {
    find_column_offsets();
  }

  /// Rows [rows.begin, rows.end) of all planes of x. y, x and bias are the group's and image's.
  void run(Range rows, const T* y, const T* weights, const T* bias, T* x) {
    results_ = reaching(p_, 1, rows);
    multiply(y, weights);
    for (int64_t d = 0; d < p_.in[0]; ++d) {
      for (int64_t h = rows.begin; h < rows.end; ++h) {
        sum_patches({.bases = bases_at(d, h),
                     .offsets = offsets_.data(),
                     .first = first_.data(),
                     .count = p_.in[2],
                     .n = p_.in_channels,
                     .start = bias,
                     .to = x + d * p_.x.spatial[0] + h * p_.x.spatial[1],
                     .step = p_.x.spatial[2]});
      }
    }
  }

 private:
  int64_t reaching_at_most(int64_t rows) const {
    return (rows + p_.dilation[1] * (p_.kernel[1] - 1)) / p_.stride[1] + 1;
  }

  // Where the taps of a row that meet in each column begin, from the row's first product.
  void find_column_offsets() {
    int64_t count = 0;
    for (int64_t i = 0; i < p_.in[2]; ++i) {
      first_.data()[i] = count;
      for (int64_t k = 0; k < p_.kernel[2]; ++k) {
        const int64_t o = result_at(p_, 2, i, k);
        if (o >= 0) offsets_.data()[count++] = o * size_ + k * p_.in_channels;
      }
    }
    first_.data()[p_.in[2]] = count;
  }

  std::span<const T* const> bases_at(int64_t d, int64_t h) {
    size_t count = 0;
    for (int64_t kd = 0; kd < p_.kernel[0]; ++kd) {
      const int64_t od = result_at(p_, 0, d, kd);
      if (od < 0) continue;
      for (int64_t kh = 0; kh < p_.kernel[1]; ++kh) {
        const int64_t oh = result_at(p_, 1, h, kh);
        if (oh < 0) continue;
        const int64_t row = od * results_.size() + oh - results_.begin;
        const int64_t tap = (kd * p_.kernel[1] + kh) * p_.kernel[2];
        bases_.data()[count++] = products_.data() + row * p_.out[2] * size_ + tap * p_.in_channels;
      }
    }
    return {bases_.data(), count};
  }

  void multiply(const T* y, const T* weights) {
    gemm::Product<T> product;
    product.m = results_.size() * p_.out[2];
    product.n = size_;
    product.k = p_.out_channels;
    product.b = {weights, size_, 1};
    product.c_row = size_;
    for (int64_t d = 0; d < p_.out[0]; ++d) {
      const T* first = y + d * p_.y.spatial[0] + results_.begin * p_.y.spatial[1];
      product.a = {first, p_.y.spatial[2], 1};
      product.c = products_.data() + d * product.m * size_;
      gemm::multiply(product);
    }
  }

  const ConvProblem& p_;
  int64_t size_;
  Range results_{};
  Scratch<T> products_;  // [plane, result row, result column, patch]
  Scratch<const T*> bases_;
  Scratch<int64_t> offsets_, first_;
};

// Rows of x whose products stay in the second-level cache, or nearly.
int64_t band_rows(const ConvProblem& p) {
  constexpr int64_t kElements = 128 * 1024;
  const int64_t row = std::max<int64_t>(p.out[0] * p.out[2] * patch_size(p), 1);
  return std::clamp<int64_t>(kElements / row * p.stride[1], 8, std::max<int64_t>(p.in[1], 8));
}

}  // namespace

template <typename T>
void transpose(const ConvProblem& p, const T* y, const T* w, const T* bias, T* x) {
  const int64_t size = patch_size(p);
  const Scratch<T> weights(p.groups * size * p.out_channels);
  for (int64_t g = 0; g < p.groups; ++g) {
    pack_channels_by_taps(p, w, g, weights.data() + g * size * p.out_channels);
  }
  const int64_t rows = band_rows(p), bands = (p.in[1] + rows - 1) / rows;
  const double ns = block_ns(p, Blocks(p, p.out[2] * rows / p.stride[1]));
  parallel_tiles(p.batch * p.groups * bands, ns, [&](int64_t tile) {
    const int64_t image = tile / (p.groups * bands), group = tile / bands % p.groups;
    const int64_t begin = tile % bands * rows;
    Band<T>(p, rows).run({begin, std::min(begin + rows, p.in[1])},
                         y + image * p.y.outer + group * p.out_channels,
                         weights.data() + group * size * p.out_channels,
                         bias ? bias + group * p.in_channels : nullptr,
                         x + image * p.x.outer + group * p.in_channels);
  });
}

template void transpose(const ConvProblem&, const float*, const float*, const float*, float*);
template void transpose(const ConvProblem&, const double*, const double*, const double*, double*);

}  // namespace thalweg::conv
