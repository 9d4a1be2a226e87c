#include "data/digit_strokes.h"

namespace thalweg::data {
namespace {

constexpr bool kSmooth = true;
constexpr bool kCorners = false;

constexpr Point kZero[] = {{.50f, .07f}, {.73f, .22f}, {.79f, .50f}, {.73f, .78f}, {.50f, .93f},
                           {.27f, .78f}, {.21f, .50f}, {.27f, .22f}, {.50f, .07f}};
constexpr Point kOneFlag[] = {{.34f, .26f}, {.53f, .08f}, {.53f, .92f}};
constexpr Point kOneStem[] = {{.52f, .07f}, {.50f, .93f}};
constexpr Point kOneFoot[] = {{.34f, .92f}, {.72f, .92f}};
constexpr Point kTwoBow[] = {{.23f, .28f}, {.36f, .10f}, {.60f, .08f}, {.76f, .26f},
                             {.66f, .48f}, {.42f, .70f}, {.22f, .90f}};
constexpr Point kTwoFoot[] = {{.22f, .90f}, {.80f, .90f}};
constexpr Point kTwoLoop[] = {{.24f, .26f}, {.46f, .07f}, {.74f, .22f}, {.62f, .56f}, {.34f, .88f},
                              {.20f, .80f}, {.36f, .74f}, {.58f, .90f}, {.82f, .86f}};
constexpr Point kThreeTop[] = {
    {.24f, .16f}, {.50f, .07f}, {.74f, .22f}, {.66f, .40f}, {.44f, .47f}};
constexpr Point kThreeBottom[] = {
    {.44f, .47f}, {.72f, .55f}, {.78f, .74f}, {.56f, .92f}, {.22f, .84f}};
constexpr Point kThreeHook[] = {{.24f, .10f}, {.74f, .10f}, {.46f, .44f}};
constexpr Point kFourOpenLeft[] = {{.30f, .10f}, {.24f, .56f}, {.80f, .56f}};
constexpr Point kFourOpenRight[] = {{.66f, .12f}, {.62f, .92f}};
constexpr Point kFourClosed[] = {{.82f, .64f}, {.20f, .64f}, {.62f, .08f}, {.62f, .93f}};
constexpr Point kFiveTop[] = {{.76f, .10f}, {.30f, .10f}, {.27f, .46f}};
constexpr Point kFiveBow[] = {{.27f, .46f}, {.52f, .38f}, {.76f, .54f},
                              {.74f, .78f}, {.50f, .92f}, {.22f, .84f}};
constexpr Point kSix[] = {{.66f, .08f}, {.42f, .22f}, {.26f, .50f}, {.26f, .76f}, {.46f, .92f},
                          {.70f, .84f}, {.76f, .66f}, {.60f, .50f}, {.40f, .54f}, {.27f, .70f}};
constexpr Point kSevenTop[] = {{.20f, .12f}, {.80f, .12f}, {.44f, .92f}};
constexpr Point kSevenBar[] = {{.36f, .50f}, {.74f, .48f}};
constexpr Point kEight[] = {{.50f, .47f}, {.28f, .36f}, {.30f, .16f}, {.50f, .07f}, {.70f, .16f},
                            {.72f, .36f}, {.50f, .47f}, {.24f, .64f}, {.26f, .84f}, {.50f, .93f},
                            {.74f, .84f}, {.76f, .64f}, {.50f, .47f}};
constexpr Point kNine[] = {{.74f, .30f}, {.60f, .50f}, {.36f, .50f}, {.25f, .32f}, {.36f, .12f},
                           {.58f, .08f}, {.74f, .26f}, {.72f, .60f}, {.60f, .92f}};
constexpr Point kNineStem[] = {{.74f, .10f}, {.72f, .92f}};

constexpr Stroke kStrokes0[] = {{kSmooth, kZero}};
constexpr Stroke kStrokes1[] = {{kCorners, kOneFlag}};
constexpr Stroke kStrokes1Stem[] = {{kCorners, kOneStem}};
constexpr Stroke kStrokes1Foot[] = {{kCorners, kOneFlag}, {kCorners, kOneFoot}};
constexpr Stroke kStrokes2[] = {{kSmooth, kTwoBow}, {kCorners, kTwoFoot}};
constexpr Stroke kStrokes2Loop[] = {{kSmooth, kTwoLoop}};
constexpr Stroke kStrokes3[] = {{kSmooth, kThreeTop}, {kSmooth, kThreeBottom}};
constexpr Stroke kStrokes3Hook[] = {{kCorners, kThreeHook}, {kSmooth, kThreeBottom}};
constexpr Stroke kStrokes4[] = {{kCorners, kFourOpenLeft}, {kCorners, kFourOpenRight}};
constexpr Stroke kStrokes4Closed[] = {{kCorners, kFourClosed}};
constexpr Stroke kStrokes5[] = {{kCorners, kFiveTop}, {kSmooth, kFiveBow}};
constexpr Stroke kStrokes6[] = {{kSmooth, kSix}};
constexpr Stroke kStrokes7[] = {{kCorners, kSevenTop}};
constexpr Stroke kStrokes7Bar[] = {{kCorners, kSevenTop}, {kCorners, kSevenBar}};
constexpr Stroke kStrokes8[] = {{kSmooth, kEight}};
constexpr Stroke kStrokes9[] = {{kSmooth, kNine}};
constexpr Stroke kStrokes9Stem[] = {{kSmooth, std::span(kNine).first(7)}, {kCorners, kNineStem}};

using Strokes = std::span<const Stroke>;

constexpr Strokes kWays0[] = {kStrokes0};
constexpr Strokes kWays1[] = {kStrokes1, kStrokes1Stem, kStrokes1Foot};
constexpr Strokes kWays2[] = {kStrokes2, kStrokes2Loop};
constexpr Strokes kWays3[] = {kStrokes3, kStrokes3Hook};
constexpr Strokes kWays4[] = {kStrokes4, kStrokes4Closed};
constexpr Strokes kWays5[] = {kStrokes5};
constexpr Strokes kWays6[] = {kStrokes6};
constexpr Strokes kWays7[] = {kStrokes7, kStrokes7Bar};
constexpr Strokes kWays8[] = {kStrokes8};
constexpr Strokes kWays9[] = {kStrokes9, kStrokes9Stem};

constexpr std::span<const Strokes> kWays[] = {kWays0, kWays1, kWays2, kWays3, kWays4,
                                              kWays5, kWays6, kWays7, kWays8, kWays9};

}  // namespace

std::span<const Stroke> strokes_of_digit(int digit, Philox& random) {
  const std::span<const Strokes> ways = kWays[digit];
  return ways[random.bounded(static_cast<uint32_t>(ways.size()))];
}

}  // namespace thalweg::data
