#include <cmath>

#include "cli/recipe/families.h"

namespace thalweg::cli {
namespace {

struct Constant : SchedulePart {
  Fields fields() override { return {}; }
  schedule::Schedule make(const RunLength&) const override { return schedule::constant(); }
};

struct Step : SchedulePart {
  double every_epochs = 1;
  double factor = 0.1;

  Fields fields() override {
    return {{"every_epochs", &every_epochs, "between two changes", DBL_MIN},
            {"factor", &factor, "of each change", DBL_MIN}};
  }
  schedule::Schedule make(const RunLength& length) const override {
    return schedule::step(
        {.every = std::max<int64_t>(1, length.steps_in(every_epochs)), .factor = factor});
  }
};

struct MultiStep : SchedulePart {
  std::vector<double> at_epochs;
  double factor = 0.1;

  Fields fields() override {
    return {{"at_epochs", &at_epochs, "when the rate changes; rising", 0},
            {"factor", &factor, "of each change", DBL_MIN}};
  }
  schedule::Schedule make(const RunLength& length) const override {
    schedule::MultiStepOptions options{.factor = factor};
    for (const double epoch : at_epochs) options.at.push_back(length.steps_in(epoch));
    return schedule::multi_step(options);
  }
};

struct Polynomial : SchedulePart {
  double power = 1;
  double final_rate = 0;

  Fields fields() override {
    return {{"power", &power, "1: a straight line", DBL_MIN},
            {"final_rate", &final_rate, "at the end of the run", 0}};
  }
  schedule::Schedule make(const RunLength& length) const override {
    return schedule::polynomial(
        {.steps = length.steps(), .power = power, .final_rate = final_rate});
  }
};

struct Cosine : SchedulePart {
  double final_rate = 0;

  Fields fields() override { return {{"final_rate", &final_rate, "at the end of the run", 0}}; }
  schedule::Schedule make(const RunLength& length) const override {
    return schedule::cosine({.steps = length.steps(), .final_rate = final_rate});
  }
};

struct OneCycle : SchedulePart {
  double rise = 0.3;
  double start_divisor = 25;
  double end_divisor = 1e4;

  Fields fields() override {
    return {{"rise", &rise, "part of the run in which the rate rises", DBL_MIN, 1},
            {"start_divisor", &start_divisor, "the first rate is learning_rate / this", DBL_MIN},
            {"end_divisor", &end_divisor, "the last rate is the first / this", DBL_MIN}};
  }
  schedule::Schedule make(const RunLength& length) const override {
    return schedule::one_cycle({.steps = length.steps(),
                                .rise = rise,
                                .start_divisor = start_divisor,
                                .end_divisor = end_divisor});
  }
};

constexpr Kind kKinds[] = {
    {"constant", "The same rate at every step.", make_part<Constant>},
    {"step", "Multiplied by a factor again and again.", make_part<Step>},
    {"multi_step", "Multiplied by a factor at the given epochs.", make_part<MultiStep>},
    {"polynomial", "Falls as a power of the part of the run that is left.", make_part<Polynomial>},
    {"cosine", "Falls along a half cosine (Loshchilov and Hutter 2017).", make_part<Cosine>},
    {"one_cycle", "Rises, then falls, along half cosines (Smith and Topin 2018).",
     make_part<OneCycle>},
};

}  // namespace

int64_t RunLength::steps_in(double epochs) const {
  constexpr double kMost = 0x1p62;  // a number of steps that no run sees
  return std::llround(std::min(epochs * static_cast<double>(steps_per_epoch), kMost));
}

std::span<const Kind> schedule_kinds() { return kKinds; }

}  // namespace thalweg::cli
