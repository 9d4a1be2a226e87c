#include <cmath>
#include <cstdint>

#include <thalweg/base/philox.h>
#include <thalweg/base/threads.h>
#include <thalweg/nn/init.h>

#include "base/fail.h"
#include "nn/init_values.h"

namespace thalweg::init {
namespace {

struct Fans {
  double in, out;
};

Fans fans_of(const char* initializer, const Shape& shape) {
  if (shape.size() < 2) {
    fail_invalid("{}: parameter of shape {} has less than two dimensions; give it another init",
                 initializer, to_string(shape));
  }
  double kernel = 1;
  for (size_t i = 2; i < shape.size(); ++i) kernel *= static_cast<double>(shape[i]);
  return {static_cast<double>(shape[1]) * kernel, static_cast<double>(shape[0]) * kernel};
}

double fan_of(const char* initializer, const Shape& shape, Fan fan) {
  const Fans fans = fans_of(initializer, shape);
  switch (fan) {
    case Fan::in:
      return fans.in;
    case Fan::out:
      return fans.out;
    case Fan::avg:
      break;
  }
  return (fans.in + fans.out) / 2;
}

const char* name(Fan fan) { return fan == Fan::avg ? "avg" : fan == Fan::in ? "in" : "out"; }

const char* name(Distribution d) { return d == Distribution::uniform ? "uniform" : "normal"; }

void fill_even(const Tensor& out, uint64_t seed, double low, double high) {
  set_elements(out, 4, [=](int64_t i) { return low + (high - low) * uniform_at(seed, i); });
}

void fill_normal(const Tensor& out, uint64_t seed, double sigma, double mean) {
  set_elements(out, 30, [=](int64_t i) { return mean + sigma * normal_at(seed, i); });
}

// Element i draws from block i of stream 0, 1, ... until a value is inside.
double truncated_normal_at(uint64_t seed, int64_t i, double limit) {
  for (uint64_t attempt = 0;; ++attempt) {
    const PhiloxBlock b = philox(seed, static_cast<uint64_t>(i), attempt);
    const NormalPair<double> pair =
        normal_pair(uint64_t{b[1]} << 32 | b[0], uint64_t{b[3]} << 32 | b[2]);
    if (std::abs(pair.first) <= limit) return pair.first;
    if (std::abs(pair.second) <= limit) return pair.second;
  }
}

void fill_scaled(const Tensor& out, uint64_t seed, Distribution distribution, double scale) {
  if (distribution == Distribution::uniform) {
    fill_even(out, seed, -scale, scale);
  } else {
    fill_normal(out, seed, scale, 0);
  }
}

}  // namespace

double uniform_at(uint64_t seed, int64_t i) {
  const PhiloxBlock b = philox(seed, static_cast<uint64_t>(i) / 2);
  const int half = static_cast<int>(i % 2) * 2;
  return uniform_double(uint64_t{b[half + 1]} << 32 | b[half]);
}

double normal_at(uint64_t seed, int64_t i) {
  const PhiloxBlock b = philox(seed, static_cast<uint64_t>(i) / 2);
  const NormalPair<double> pair =
      normal_pair(uint64_t{b[1]} << 32 | b[0], uint64_t{b[3]} << 32 | b[2]);
  return i % 2 ? pair.second : pair.first;
}

Initializer zero() {
  return {"zero", [](const Tensor& out, uint64_t) { out.fill(0); }};
}

Initializer one() {
  return {"one", [](const Tensor& out, uint64_t) { out.fill(1); }};
}

Initializer constant(double value) {
  return {fmt::format("constant({})", value),
          [value](const Tensor& out, uint64_t) { out.fill(value); }};
}

Initializer uniform(double low, double high) {
  if (!(low <= high)) fail_invalid("uniform: low {} is above high {}", low, high);
  return {fmt::format("uniform({}, {})", low, high),
          [=](const Tensor& out, uint64_t seed) { fill_even(out, seed, low, high); }};
}

Initializer uniform(double scale) { return uniform(-scale, scale); }

Initializer normal(double sigma, double mean) {
  if (!(sigma >= 0)) fail_invalid("normal: sigma {} is negative", sigma);
  return {fmt::format("normal({}, {})", sigma, mean),
          [=](const Tensor& out, uint64_t seed) { fill_normal(out, seed, sigma, mean); }};
}

Initializer truncated_normal(double sigma, double mean, double limit) {
  if (!(sigma >= 0)) fail_invalid("truncated_normal: sigma {} is negative", sigma);
  if (!(limit >= 0.01)) fail_invalid("truncated_normal: limit {} is below 0.01 sigmas", limit);
  return {fmt::format("truncated_normal({}, {}, {})", sigma, mean, limit),
          [=](const Tensor& out, uint64_t seed) {
            set_elements(out, 40, [=](int64_t i) {
              return mean + sigma * truncated_normal_at(seed, i, limit);
            });
          }};
}

Initializer xavier(XavierOptions options) {
  if (!(options.magnitude >= 0)) {
    fail_invalid("xavier: magnitude {} is negative", options.magnitude);
  }
  return {fmt::format("xavier({}, {}, {})", name(options.distribution), name(options.fan),
                      options.magnitude),
          [=](const Tensor& out, uint64_t seed) {
            const double fan = fan_of("xavier", out.shape(), options.fan);
            fill_scaled(out, seed, options.distribution, std::sqrt(options.magnitude / fan));
          }};
}

Initializer msra(MsraOptions options) {
  return {
      fmt::format("msra({}, {}, {})", name(options.distribution), name(options.fan), options.slope),
      [=](const Tensor& out, uint64_t seed) {
        const double fan = fan_of("msra", out.shape(), options.fan);
        const double sigma = std::sqrt(2 / ((1 + options.slope * options.slope) * fan));
        const bool even = options.distribution == Distribution::uniform;
        fill_scaled(out, seed, options.distribution, even ? sigma * std::sqrt(3.0) : sigma);
      }};
}

}  // namespace thalweg::init
