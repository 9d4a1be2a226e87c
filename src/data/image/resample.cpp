#include "data/image/resample.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/fail.h"
#include "data/image/resample_rows.h"

namespace thalweg::data {
namespace {

// Which pixels of an axis make up each of the new ones: `taps` from first[i] on, the weights of
// those that are too many being 0.
struct Axis {
  size_t taps = 1;
  std::vector<int32_t> first;
  std::vector<float> weights;
};

double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }

// Keys 1981, a = -0.5.
double catmull_rom(double x) {
  x = std::abs(x);
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  if (x < 2) return ((-0.5 * x + 2.5) * x - 4) * x + 2;
  return 0;
}

double sinc(double x) { return x == 0 ? 1 : std::sin(M_PI * x) / (M_PI * x); }
double lanczos(double x) { return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0; }

struct Kernel {
  double support;  // 0 from there on
  double (*weight)(double x);
};

Kernel kernel_of(Interpolation interpolation) {
  if (interpolation == Interpolation::lanczos) return {3, lanczos};
  return interpolation == Interpolation::cubic ? Kernel{2, catmull_rom} : Kernel{1, triangle};
}

Axis nearest_axis(double begin, double size, int64_t in_size, int64_t out_size) {
  Axis axis;
  axis.weights.assign(static_cast<size_t>(out_size), 1.0f);
  for (int64_t i = 0; i < out_size; ++i) {
    const double center =
        begin + (static_cast<double>(i) + 0.5) * size / static_cast<double>(out_size);
    axis.first.push_back(
        static_cast<int32_t>(std::clamp<int64_t>(static_cast<int64_t>(center), 0, in_size - 1)));
  }
  return axis;
}

// Pillow's filter: its width grows as the picture shrinks.
Axis make_axis(double begin, double size, int64_t in_size, int64_t out_size,
               Interpolation interpolation) {
  if (interpolation == Interpolation::nearest) return nearest_axis(begin, size, in_size, out_size);
  const Kernel kernel = kernel_of(interpolation);
  const double scale = size / static_cast<double>(out_size);
  const double wide = std::max(scale, 1.0);
  const double support = kernel.support * wide;
  const auto low = static_cast<int64_t>(std::floor(begin));
  const auto high = std::min<int64_t>(in_size, static_cast<int64_t>(std::ceil(begin + size)));
  Axis axis;
  axis.taps =
      std::min(static_cast<size_t>(std::ceil(support)) * 2 + 1, static_cast<size_t>(high - low));
  axis.first.resize(static_cast<size_t>(out_size));
  axis.weights.assign(static_cast<size_t>(out_size) * axis.taps, 0.0f);
  for (size_t i = 0; i < axis.first.size(); ++i) {
    const double center = begin + (static_cast<double>(i) + 0.5) * scale;
    const auto from = std::max<int64_t>(low, static_cast<int64_t>(center - support + 0.5));
    const auto to = std::min<int64_t>(high, static_cast<int64_t>(center + support + 0.5));
    // All taps must be pixels.
    const int64_t first = std::min(from, high - static_cast<int64_t>(axis.taps));
    axis.first[i] = static_cast<int32_t>(first);
    float* weights = axis.weights.data() + i * axis.taps;
    double sum = 0;
    for (int64_t x = from; x < to && x - first < static_cast<int64_t>(axis.taps); ++x) {
      const double at = (static_cast<double>(x) + 0.5 - center) / wide;
      const double weight = kernel.weight(at);
      weights[x - first] = static_cast<float>(weight);
      sum += weight;
    }
    for (size_t k = 0; k < axis.taps; ++k) weights[k] = static_cast<float>(weights[k] / sum);
  }
  return axis;
}

void mirror(Axis& axis) {
  std::ranges::reverse(axis.first);
  const size_t n = axis.first.size();
  for (size_t i = 0; i < n / 2; ++i) {
    std::swap_ranges(axis.weights.begin() + static_cast<int64_t>(i * axis.taps),
                     axis.weights.begin() + static_cast<int64_t>((i + 1) * axis.taps),
                     axis.weights.begin() + static_cast<int64_t>((n - 1 - i) * axis.taps));
  }
}

void blend_pixels1(const float* in, const Axis& axis, float* out) {
  for (size_t i = 0; i < axis.first.size(); ++i) {
    const float* from = in + axis.first[i];
    const float* weights = axis.weights.data() + i * axis.taps;
    float sum = 0;
    for (size_t k = 0; k < axis.taps; ++k) sum += from[k] * weights[k];
    out[i] = sum;
  }
}

// Rows of `channels` values per pixel, `stride` values apart, to new rows that go to put(y,
// values).
template <typename T, typename Put>
void resample(const T* in, int64_t stride, int64_t channels, const Axis& rows, Axis columns,
              Put put) {
  // Only the columns that count are blended.
  const auto [low, high] = std::ranges::minmax(columns.first);
  const int64_t left = low;
  const auto width =
      static_cast<size_t>((high - left + static_cast<int64_t>(columns.taps)) * channels);
  for (int32_t& first : columns.first) first -= static_cast<int32_t>(left);
  const size_t n = columns.first.size();
  std::vector<float> blended(width + 4);
  std::vector<float> out(n * static_cast<size_t>(channels) + 4);
  std::vector<const T*> taps(rows.taps);
  for (size_t y = 0; y < rows.first.size(); ++y) {
    for (size_t k = 0; k < rows.taps; ++k)
      taps[k] = in + (rows.first[y] + static_cast<int64_t>(k)) * stride + left * channels;
    blend_rows(taps.data(), rows.weights.data() + y * rows.taps, rows.taps, blended.data(), width);
    if (channels == 3)
      blend_pixels3(blended.data(), columns.first.data(), columns.weights.data(), columns.taps,
                    out.data(), n);
    else
      blend_pixels1(blended.data(), columns, out.data());
    put(static_cast<int64_t>(y), out.data());
  }
}

struct Axes {
  Axis rows;
  Axis columns;
};

Axes make_axes(const Resampling& part, int64_t in_height, int64_t in_width) {
  THALWEG_ASSERT(part.height > 0 && part.width > 0 && part.top >= 0 && part.left >= 0 &&
                 part.top + part.height <= static_cast<double>(in_height) + 1e-6 &&
                 part.left + part.width <= static_cast<double>(in_width) + 1e-6);
  Axes axes{make_axis(part.top, part.height, in_height, part.out_height, part.interpolation),
            make_axis(part.left, part.width, in_width, part.out_width, part.interpolation)};
  if (part.mirrored) mirror(axes.columns);
  return axes;
}

}  // namespace

void resample_pixels(const Pixels& in, const Resampling& part, bool reversed,
                     const PlanesOut& out) {
  if (part.out_height == 0 || part.out_width == 0) return;
  Axes axes = make_axes(part, in.height, in.width);
  const auto n = static_cast<size_t>(part.out_width);
  auto* const data = static_cast<uint8_t*>(out.data);
  std::vector<uint8_t> row(n * static_cast<size_t>(in.channels));
  const int64_t first = reversed ? 2 : 0;
  resample(in.values.data(), in.width * in.channels, in.channels, axes.rows,
           std::move(axes.columns), [&](int64_t y, const float* values) {
             uint8_t* const to = data + y * out.row_stride;
             if (in.channels != 3) return round_to_u8(values, to, n);
             round_to_u8(values, row.data(), row.size());
             split_pixels3(row.data(), to + first * out.plane_stride, to + out.plane_stride,
                           to + (2 - first) * out.plane_stride, n);
           });
}

void resample_planes(const PlanesIn& in, const Resampling& part, const PlanesOut& out) {
  if (part.out_height == 0 || part.out_width == 0) return;
  const Axes axes = make_axes(part, in.height, in.width);
  const auto n = static_cast<size_t>(part.out_width);
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    for (int64_t p = 0; p < in.planes; ++p) {
      const T* from = static_cast<const T*>(in.data) + p * in.height * in.width;
      T* to = static_cast<T*>(out.data) + p * out.plane_stride;
      resample(from, in.width, 1, axes.rows, axes.columns, [&](int64_t y, const float* values) {
        if constexpr (std::is_same_v<T, uint8_t>)
          round_to_u8(values, to + y * out.row_stride, n);
        else
          std::copy_n(values, n, to + y * out.row_stride);
      });
    }
  };
  if (in.dtype == DType::u8)
    run(uint8_t{});
  else
    run(float{});
}

}  // namespace thalweg::data
