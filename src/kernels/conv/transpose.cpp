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

// The position of x that tap k of result o lies on.
int64_t position_of(const ConvProblem& p, int axis, int64_t o, int64_t k) {
  return o * p.stride[axis] - p.padding[axis] + k * p.dilation[axis];
}

// Rows of results whose products stay in the first-level cache.
int64_t rows_at_a_time(const ConvProblem& p) {
  constexpr int64_t kElements = 4096;
  const int64_t row = std::max<int64_t>(p.out[2] * patch_size(p), 1);
  return std::clamp<int64_t>(kElements / row, 1, std::max<int64_t>(p.out[1], 1));
}

// Sums a band of rows of x: each row of results is multiplied by the weights, which gives a patch
// of x per pixel, and the patches are added up where they lie. The sums have room for whole vectors
// of channels, so that the additions for one pixel do not touch the next.
template <typename T>
class Band {
 public:
  Band(const ConvProblem& p, Range rows)
      : p_(p),
        rows_(rows),
        size_(patch_size(p)),
        pitch_((p.in_channels + kVector - 1) / kVector * kVector),
        sums_(p.in[0] * rows.size() * p.in[2] * pitch_ + kVector),
        products_(rows_at_a_time(p) * p.out[2] * size_ + int64_t{kSlack}),
        offsets_(p.in[2] * p.kernel[2]),
        first_(p.in[2] + 1) {
    find_column_offsets();
  }

  // y, weights, bias and x are the group's and image's.
  void run(const T* y, const T* weights, const T* bias, T* x) {
    begin_sums(bias);
    const Range results = reaching(p_, 1, rows_);
    const int64_t step = rows_at_a_time(p_);
    for (int64_t d = 0; d < p_.out[0]; ++d) {
      for (int64_t h = results.begin; h < results.end; h += step) {
        const int64_t count = std::min(step, results.end - h);
        multiply(y + d * p_.y.spatial[0] + h * p_.y.spatial[1], count, weights);
        for (int64_t row = 0; row < count; ++row) {
          add_row(d, h + row, products_.data() + row * p_.out[2] * size_);
        }
      }
    }
    store(x);
  }

 private:
  static constexpr int64_t kVector = 32 / sizeof(T);

  // Where the taps of a row that meet in each column begin, from the row's first product.
  void find_column_offsets() {
    int64_t count = 0;
    for (int64_t i = 0; i < p_.in[2]; ++i) {
      first_[i] = count;
      for (int64_t k = 0; k < p_.kernel[2]; ++k) {
        const int64_t o = result_at(p_, 2, i, k);
        if (o >= 0) offsets_[count++] = o * size_ + k * p_.in_channels;
      }
    }
    first_[p_.in[2]] = count;
  }

  T* sums_of_row(int64_t d, int64_t h) const {
    return sums_.data() + (d * rows_.size() + h - rows_.begin) * p_.in[2] * pitch_;
  }

  void begin_sums(const T* bias) {
    std::fill(sums_.begin(), sums_.end(), T(0));
    if (!bias) return;
    const int64_t pixels = p_.in[0] * rows_.size() * p_.in[2];
    for (int64_t i = 0; i < pixels; ++i) {
      std::copy_n(bias, p_.in_channels, sums_.data() + i * pitch_);
    }
  }

  void multiply(const T* y, int64_t rows, const T* weights) {
    gemm::Product<T> product;
    product.m = rows * p_.out[2];
    product.n = size_;
    product.k = p_.out_channels;
    product.a = {y, p_.y.spatial[2], 1};
    product.b = {weights, size_, 1};
    product.c = products_.data();
    product.c_row = size_;
    gemm::multiply(product);
  }

  void add_row(int64_t d, int64_t h, const T* products) {
    for (int64_t kd = 0; kd < p_.kernel[0]; ++kd) {
      const int64_t to_d = position_of(p_, 0, d, kd);
      if (to_d < 0 || to_d >= p_.in[0]) continue;
      for (int64_t kh = 0; kh < p_.kernel[1]; ++kh) {
        const int64_t to_h = position_of(p_, 1, h, kh);
        if (to_h < rows_.begin || to_h >= rows_.end) continue;
        const int64_t tap = (kd * p_.kernel[1] + kh) * p_.kernel[2];
        add_patches({products + tap * p_.in_channels, offsets_.data(), first_.data(), p_.in[2],
                     pitch_, sums_of_row(to_d, to_h)});
      }
    }
  }

  // The fast copy writes behind a row's end, where rows that follow are still to be written.
  void store(T* x) const {
    const int64_t channels = p_.in_channels, zero = 0;
    constexpr int64_t kBytes = sizeof(T);
    for (int64_t d = 0; d < p_.in[0]; ++d) {
      for (int64_t h = rows_.begin; h < rows_.end; ++h) {
        T* to = x + d * p_.x.spatial[0] + h * p_.x.spatial[1];
        const T* from = sums_of_row(d, h);
        const int64_t following = (rows_.end - h - 1) * p_.in[2] * channels * kBytes;
        if (following >= static_cast<int64_t>(kSlack) && p_.groups == 1) {
          copy_patches(reinterpret_cast<const std::byte*>(from), pitch_ * kBytes, {&zero, 1},
                       channels * kBytes, p_.in[2], reinterpret_cast<std::byte*>(to));
          continue;
        }
        for (int64_t w = 0; w < p_.in[2]; ++w) {
          std::copy_n(from + w * pitch_, channels, to + w * p_.x.spatial[2]);
        }
      }
    }
  }

  const ConvProblem& p_;
  Range rows_;
  int64_t size_, pitch_;
  Scratch<T> sums_;      // [plane, row, column, pitch]
  Scratch<T> products_;  // [result row, result column, patch]
  Scratch<int64_t> offsets_, first_;
};

// Images are cut only where there are few of them: a cut repeats the products around it.
int64_t band_rows(const ConvProblem& p) {
  constexpr int64_t kTiles = 8, kLeast = 8;
  const int64_t bands = std::max<int64_t>(kTiles / std::max<int64_t>(p.batch * p.groups, 1), 1);
  return std::max((p.in[1] + bands - 1) / bands, kLeast);
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
    Band<T>(p, {begin, std::min(begin + rows, p.in[1])})
        .run(y + image * p.y.outer + group * p.out_channels,
             weights.data() + group * size * p.out_channels,
             bias ? bias + group * p.in_channels : nullptr,
             x + image * p.x.outer + group * p.in_channels);
  });
}

template void transpose(const ConvProblem&, const float*, const float*, const float*, float*);
template void transpose(const ConvProblem&, const double*, const double*, const double*, double*);

}  // namespace thalweg::conv
