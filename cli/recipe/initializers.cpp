#include "cli/recipe/families.h"

namespace thalweg::cli {
namespace {

constexpr std::string_view kFans[] = {"avg", "in", "out"};

std::vector<std::string_view> fans() { return {std::begin(kFans), std::end(kFans)}; }

init::Fan fan_of(const std::string& name) {
  if (name == "in") return init::Fan::in;
  return name == "out" ? init::Fan::out : init::Fan::avg;
}

init::Distribution distribution_of(const std::string& name) {
  return name == "normal" ? init::Distribution::normal : init::Distribution::uniform;
}

struct Xavier : InitializerPart {
  std::string distribution = "uniform";
  std::string fan = "avg";
  double magnitude = 3;

  Fields fields() override {
    return {one_of("distribution", &distribution, "of the numbers", {"uniform", "normal"}),
            one_of("fan", &fan, "which connections set the scale", fans()),
            {"magnitude", &magnitude, "the scale is sqrt(magnitude / fan)", 0}};
  }
  init::Initializer make() const override {
    return init::xavier({.distribution = distribution_of(distribution),
                         .fan = fan_of(fan),
                         .magnitude = magnitude});
  }
};

struct Msra : InitializerPart {
  std::string distribution = "normal";
  std::string fan = "in";
  double slope = 0;

  Fields fields() override {
    return {one_of("distribution", &distribution, "of the numbers", {"uniform", "normal"}),
            one_of("fan", &fan, "which connections set the scale", fans()),
            {"slope", &slope, "of the activation at negative values"}};
  }
  init::Initializer make() const override {
    return init::msra(
        {.distribution = distribution_of(distribution), .fan = fan_of(fan), .slope = slope});
  }
};

struct Normal : InitializerPart {
  double sigma = 0.01;

  Fields fields() override { return {{"sigma", &sigma, "standard deviation", 0}}; }
  init::Initializer make() const override { return init::normal(sigma); }
};

struct TruncatedNormal : InitializerPart {
  double sigma = 0.01;
  double limit = 2;

  Fields fields() override {
    return {{"sigma", &sigma, "standard deviation before the cut", 0},
            {"limit", &limit, "numbers lie within as many sigmas", DBL_MIN}};
  }
  init::Initializer make() const override { return init::truncated_normal(sigma, 0, limit); }
};

struct Uniform : InitializerPart {
  double scale = 0.07;

  Fields fields() override { return {{"scale", &scale, "numbers lie in [-scale, scale)", 0}}; }
  init::Initializer make() const override { return init::uniform(scale); }
};

struct Orthogonal : InitializerPart {
  double gain = 1;

  Fields fields() override { return {{"gain", &gain, "what the matrix is multiplied by"}}; }
  init::Initializer make() const override { return init::orthogonal(gain); }
};

constexpr Kind kKinds[] = {
    {"xavier", "Glorot and Bengio 2010, with Gluon's options.", make_part<Xavier>},
    {"msra", "He et al. 2015, for nets of rectifiers.", make_part<Msra>},
    {"normal", "Normal numbers.", make_part<Normal>},
    {"truncated_normal", "Normal numbers without the far ones.", make_part<TruncatedNormal>},
    {"uniform", "Even numbers.", make_part<Uniform>},
    {"orthogonal", "A random matrix with orthonormal rows (Saxe et al. 2014).",
     make_part<Orthogonal>},
};

}  // namespace

std::span<const Kind> initializer_kinds() { return kKinds; }

}  // namespace thalweg::cli
