#pragma once

// First values of parameters. All numbers come from Philox, in 64 bits and then rounded to the
// parameter's dtype: an f32 and an f64 net of one seed start with the same values, whatever the
// number of threads.
//
// fan_in and fan_out are those of a weight [out, in, kernel...] : shape[1] and shape[0], each times
// the kernel's size.

#include <cstdint>
#include <functional>
#include <string>

#include <thalweg/tensor/tensor.h>

namespace thalweg::init {

/// A rule that fills a tensor. `fill(out, seed)` must write every element of `out`, a row-major
/// tensor on the cpu, and draw from Philox(seed) only.
class THALWEG_API Initializer {
 public:
  using Fill = std::function<void(const Tensor& out, uint64_t seed)>;

  Initializer() = default;
  Initializer(std::string text, Fill fill) : text_(std::move(text)), fill_(std::move(fill)) {}

  explicit operator bool() const { return static_cast<bool>(fill_); }
  void operator()(const Tensor& out, uint64_t seed) const { fill_(out, seed); }
  /// "normal(0.01)".
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  Fill fill_;
};

THALWEG_API Initializer zero();
THALWEG_API Initializer one();
THALWEG_API Initializer constant(double value);
/// Even in [low, high).
THALWEG_API Initializer uniform(double low, double high);
/// Even in [-scale, scale).
THALWEG_API Initializer uniform(double scale = 0.07);
THALWEG_API Initializer normal(double sigma = 0.01, double mean = 0);
/// normal(sigma, mean), drawn again where it is more than `limit` sigmas from the mean. The
/// variance is that of the cut distribution: 0.774 sigma^2 at a limit of 2.
THALWEG_API Initializer truncated_normal(double sigma = 0.01, double mean = 0, double limit = 2);

/// Which connections of a weight set its scale; avg is the mean of in and out.
enum class Fan : uint8_t { avg, in, out };
enum class Distribution : uint8_t { uniform, normal };

struct XavierOptions {
  Distribution distribution = Distribution::uniform;
  Fan fan = Fan::avg;
  double magnitude = 3;  ///< s = sqrt(magnitude / fan): uniform in [-s, s), or normal with sigma s
};
/// Glorot and Bengio 2010; the defaults and `magnitude` are those of Gluon's Xavier. Throws
/// Error{invalid} for a parameter of less than two dimensions.
THALWEG_API Initializer xavier(XavierOptions options = {});

struct MsraOptions {
  Distribution distribution = Distribution::normal;
  Fan fan = Fan::in;
  double slope = 0;  ///< of the activation at negative values: 0 for relu
};
/// He et al. 2015, for nets of rectifiers: variance 2 / ((1 + slope^2) fan). Gluon's MSRAPrelu is
/// {.fan = Fan::avg, .slope = 0.25}. Throws Error{invalid} for less than two dimensions.
THALWEG_API Initializer msra(MsraOptions options = {});

/// `gain` times a random matrix [shape[0], the rest] with orthonormal rows, or columns if there are
/// more rows, even over all such matrices (Saxe et al. 2014, Mezzadri 2007). Throws Error{invalid}
/// for less than two dimensions.
THALWEG_API Initializer orthogonal(double gain = 1);

/// The weight of a transposed convolution that doubles, triples ... the size of an image by linear
/// interpolation (Long et al. 2015). The last two dimensions are the kernel; throws Error{invalid}
/// unless there are four dimensions.
THALWEG_API Initializer bilinear();

}  // namespace thalweg::init
