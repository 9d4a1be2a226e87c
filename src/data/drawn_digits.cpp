#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "data/digit_strokes.h"
#include "data/image_set.h"

namespace thalweg::data {
namespace {

constexpr int kSide = 28;
constexpr int kPixels = kSide * kSide;
constexpr uint64_t kDigitStream = 0xD161;
constexpr int kPartsPerSpan = 5;  // straight pieces of a curve between two of its points

// How much the pen differs from sample to sample: ranges, or a standard deviation.
constexpr float kPointJitter = 0.035f;  // of the unit square
constexpr float kMaxTurn = 0.30f;       // radians, either way
constexpr float kMaxSlant = 0.30f;      // x per y, either way
constexpr float kMinSize = 0.58f;       // of the picture's side
constexpr float kMaxSize = 0.86f;
constexpr float kMaxShift = 2.5f;   // pixels, either way
constexpr float kMinRadius = 0.6f;  // of the pen, pixels
constexpr float kMaxRadius = 1.5f;
constexpr float kMinInk = 0.55f;   // of full brightness
constexpr float kGrain = 0.06f;    // standard deviation of each pixel's brightness
constexpr float kScratch = 0.35f;  // probability of a stray line

float between(Philox& random, float low, float high) {
  return low + (high - low) * random.uniform();
}

/// From the unit square to pixels: size, slant, turn and place of one sample.
class Placement {
 public:
  explicit Placement(Philox& random) {
    const float width = between(random, kMinSize, kMaxSize) * kSide;
    const float height = between(random, kMinSize, kMaxSize) * kSide;
    const float slant = between(random, -kMaxSlant, kMaxSlant);
    const float turn = between(random, -kMaxTurn, kMaxTurn);
    const float c = std::cos(turn);
    const float s = std::sin(turn);
    xx_ = c * width;
    xy_ = (-s - slant * c) * height;
    yx_ = s * width;
    yy_ = (c - slant * s) * height;
    x0_ = kSide / 2.0f + between(random, -kMaxShift, kMaxShift);
    y0_ = kSide / 2.0f + between(random, -kMaxShift, kMaxShift);
  }

  Point operator()(Point p) const {
    const float x = p.x - 0.5f;
    const float y = p.y - 0.5f;
    return {x0_ + xx_ * x + xy_ * y, y0_ + yx_ * x + yy_ * y};
  }

 private:
  float xx_, xy_, yx_, yy_, x0_, y0_;
};

/// Brightness of 28 x 28 pixels, to draw lines on with a round pen.
class Canvas {
 public:
  explicit Canvas(float radius) : radius_(radius) { ink_.fill(0); }

  void line(Point a, Point b) {
    const float reach = radius_ + 0.5f;
    const int x0 = first(std::min(a.x, b.x) - reach);
    const int x1 = last(std::max(a.x, b.x) + reach);
    const int y0 = first(std::min(a.y, b.y) - reach);
    const int y1 = last(std::max(a.y, b.y) + reach);
    const float dx = b.x - a.x;
    const float dy = b.y - a.y;
    const float scale = 1 / std::max(dx * dx + dy * dy, 1e-12f);
    for (int y = y0; y <= y1; ++y) {
      for (int x = x0; x <= x1; ++x) {
        const float px = static_cast<float>(x) + 0.5f - a.x;
        const float py = static_cast<float>(y) + 0.5f - a.y;
        const float along = std::clamp((px * dx + py * dy) * scale, 0.0f, 1.0f);
        const float ex = px - along * dx;
        const float ey = py - along * dy;
        const float cover = std::clamp(reach - std::sqrt(ex * ex + ey * ey), 0.0f, 1.0f);
        float& ink = ink_[static_cast<size_t>(y * kSide + x)];
        ink = std::max(ink, cover);
      }
    }
  }

  /// Catmull and Rom's curve through the points.
  void curve(std::span<const Point> points) {
    const size_t n = points.size();
    for (size_t i = 0; i + 1 < n; ++i) {
      const Point& before = points[i == 0 ? 0 : i - 1];
      const Point& after = points[std::min(i + 2, n - 1)];
      Point from = points[i];
      for (int part = 1; part <= kPartsPerSpan; ++part) {
        const float t = static_cast<float>(part) / kPartsPerSpan;
        const Point to = {blend(before.x, points[i].x, points[i + 1].x, after.x, t),
                          blend(before.y, points[i].y, points[i + 1].y, after.y, t)};
        line(from, to);
        from = to;
      }
    }
  }

  const std::array<float, kPixels>& ink() const { return ink_; }

 private:
  static int first(float at) { return std::clamp(static_cast<int>(at), 0, kSide - 1); }
  static int last(float at) { return std::clamp(static_cast<int>(at), 0, kSide - 1); }
  static float blend(float a, float b, float c, float d, float t) {
    return b + 0.5f * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
  }

  float radius_;
  std::array<float, kPixels> ink_;
};

void draw_stroke(Canvas& canvas, const Stroke& stroke, const Placement& place, Philox& random) {
  std::vector<Point> points;
  for (const Point& p : stroke.points) {
    const float dx = kPointJitter * random.normal();
    const float dy = kPointJitter * random.normal();
    points.push_back(place({p.x + dx, p.y + dy}));
  }
  if (stroke.is_smooth) {
    canvas.curve(points);
  } else {
    for (size_t i = 0; i + 1 < points.size(); ++i) canvas.line(points[i], points[i + 1]);
  }
}

void draw_scratch(Canvas& canvas, Philox& random) {
  const Point from = {between(random, 0, kSide), between(random, 0, kSide)};
  canvas.line(from, {from.x + between(random, -7, 7), from.y + between(random, -7, 7)});
}

// About standard normal, as the sum of four uniform bytes is.
float grain(uint32_t bits) {
  const uint32_t sum = (bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24);
  return (static_cast<float>(sum) - 510.0f) * (1 / 147.224f);
}

// Draws one sample into 28 x 28 bytes; returns its digit.
int64_t draw(Philox random, uint8_t* pixels) {
  const int digit = static_cast<int>(random.bounded(10));
  const Placement place(random);
  Canvas canvas(between(random, kMinRadius, kMaxRadius));
  for (const Stroke& stroke : strokes_of_digit(digit, random))
    draw_stroke(canvas, stroke, place, random);
  if (random.uniform() < kScratch) draw_scratch(canvas, random);
  const float ink = between(random, kMinInk, 1);
  for (size_t i = 0; i < kPixels; ++i) {
    const float value = canvas.ink()[i] * ink + kGrain * grain(random.next());
    pixels[i] = static_cast<uint8_t>(std::clamp(value, 0.0f, 1.0f) * 255 + 0.5f);
  }
  return digit;
}

}  // namespace

Dataset drawn_digits(DrawnDigitsOptions options) {
  return draw_image_set({.name = "drawn_digits",
                         .split = options.split,
                         .samples = options.samples,
                         .train_samples = 60000,
                         .test_samples = 10000,
                         .seed = options.seed,
                         .stream = kDigitStream,
                         .shape = {kSide, kSide},
                         .sample_ns = 20000,
                         .draw = draw},
                        options.flat, {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
}

}  // namespace thalweg::data
