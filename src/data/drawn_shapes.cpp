#include <algorithm>
#include <array>
#include <cmath>

#include "data/image_set.h"

namespace thalweg::data {
namespace {

constexpr int kSide = 32, kChannels = 3, kPixels = kSide * kSide;
constexpr uint64_t kShapeStream = 0x5A4E;

// Ranges of what differs from sample to sample.
constexpr float kMinSize = 7, kMaxSize = 13;  // pixels from the middle of a shape to its edge
constexpr float kMaxShift = 5;                // pixels, either way
constexpr float kMaxTurn = 0.35f;             // radians, either way
constexpr float kMinContrast = 0.35f;         // between the colours of shape and ground
constexpr float kMaxShade = 0.25f;            // of the ground from the middle to an edge
constexpr float kGrain = 0.06f;               // standard deviation of each value
constexpr float kBar = 0.3f;                  // probability of a bar across the picture

float between(Philox& random, float low, float high) {
  return low + (high - low) * random.uniform();
}

float box(float x, float y, float width, float height) {
  return std::max(std::abs(x) - width, std::abs(y) - height);
}

// About the distance from the edge of shape `kind`, negative inside; the shape fills [-1, 1]^2.
float distance(int64_t kind, float x, float y) {
  const float r = std::hypot(x, y);
  switch (kind) {
    case 0:
      return r - 1;  // disc
    case 1:
      return std::abs(r - 0.75f) - 0.22f;  // ring
    case 2:
      return box(x, y, 0.85f, 0.85f);  // square
    case 3:
      return std::abs(box(x, y, 0.72f, 0.72f)) - 0.2f;  // frame
    case 4:
      return std::max(0.866f * std::abs(x) - 0.5f * y, y) - 0.55f;  // triangle
    case 5:
      return std::min(box(x, y, 0.27f, 1), box(x, y, 1, 0.27f));  // plus
    case 6:
      return std::min(std::hypot(x - 0.55f, y), std::hypot(x + 0.55f, y)) - 0.42f;  // pair
    case 7:
      return box(x, y, 1, 0.27f);  // bar
    case 8:
      return std::max(r - 1, y - 0.1f);  // half disc
    default:
      return std::min(box(x + 0.6f, y, 0.27f, 1), box(x, y - 0.7f, 0.87f, 0.27f));  // ell
  }
}

using Colour = std::array<float, kChannels>;

Colour draw_colour(Philox& random) {
  Colour colour;
  for (float& value : colour) value = between(random, 0.1f, 0.9f);
  return colour;
}

float contrast(const Colour& a, const Colour& b) {
  float sum = 0;
  for (size_t c = 0; c < a.size(); ++c) sum += std::abs(a[c] - b[c]);
  return sum / kChannels;
}

// From pixels to the square that a shape fills.
struct Placement {
  float x, y, cosine, sine, size;

  explicit Placement(Philox& random) {
    size = between(random, kMinSize, kMaxSize);
    x = kSide / 2.0f + between(random, -kMaxShift, kMaxShift);
    y = kSide / 2.0f + between(random, -kMaxShift, kMaxShift);
    const float turn = between(random, -kMaxTurn, kMaxTurn);
    cosine = std::cos(turn);
    sine = std::sin(turn);
  }

  // Part of the pixel that the shape covers.
  float cover(int64_t kind, int column, int row) const {
    const float dx = (static_cast<float>(column) + 0.5f - x) / size;
    const float dy = (static_cast<float>(row) + 0.5f - y) / size;
    const float away = distance(kind, cosine * dx + sine * dy, cosine * dy - sine * dx);
    return std::clamp(0.5f - away * size, 0.0f, 1.0f);
  }
};

// Draws one sample into 3 planes of 32 x 32 bytes; returns its class.
int64_t draw(Philox random, uint8_t* planes) {
  const auto kind = static_cast<int64_t>(random.bounded(10));
  const Placement place(random);
  const Colour ground = draw_colour(random);
  Colour ink = draw_colour(random);
  while (contrast(ground, ink) < kMinContrast) ink = draw_colour(random);
  const float shade_x = between(random, -kMaxShade, kMaxShade);
  const float shade_y = between(random, -kMaxShade, kMaxShade);
  const Colour bar = draw_colour(random);
  const int bar_row = random.uniform() < kBar ? static_cast<int>(random.bounded(kSide)) : -3;
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      const float shade = shade_x * (static_cast<float>(column) / (kSide / 2) - 1) +
                          shade_y * (static_cast<float>(row) / (kSide / 2) - 1);
      const float covered = place.cover(kind, column, row);
      const bool is_bar = row >= bar_row && row < bar_row + 2;
      for (size_t c = 0; c < kChannels; ++c) {
        const float paint = ground[c] + shade + covered * (ink[c] - ground[c] - shade);
        const float value = (is_bar ? bar[c] : paint) + kGrain * random.normal();
        planes[c * kPixels + static_cast<size_t>(row * kSide + column)] =
            static_cast<uint8_t>(std::clamp(value, 0.0f, 1.0f) * 255 + 0.5f);
      }
    }
  }
  return kind;
}

}  // namespace

Dataset drawn_shapes(DrawnShapesOptions options) {
  return draw_image_set(
      {.name = "drawn_shapes",
       .split = options.split,
       .samples = options.samples,
       .train_samples = 50000,
       .test_samples = 10000,
       .seed = options.seed,
       .stream = kShapeStream,
       .shape = {kChannels, kSide, kSide},
       .sample_ns = 60000,
       .draw = draw},
      false,
      {"disc", "ring", "square", "frame", "triangle", "plus", "pair", "bar", "half disc", "ell"});
}

}  // namespace thalweg::data
