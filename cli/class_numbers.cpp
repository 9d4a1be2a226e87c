#include "cli/class_numbers.h"

#include <cmath>

#include "base/fail.h"

namespace thalweg::cli {
namespace {

class ClassNumbers final : public data::TransformStep {
 public:
  data::Field output(const data::Field& input) const override {
    return {input.name, DType::i64, input.shape};
  }

  Tensor apply(const Tensor& values, const data::Request& request, uint64_t) const override {
    Tensor classes = Tensor::empty(values.shape(), {.dtype = DType::i64});
    int64_t* to = classes.mutable_data<int64_t>();
    const Tensor numbers = values.to(DType::f64);
    const double* from = numbers.data<double>();
    for (int64_t i = 0; i < values.size(); ++i) {
      if (!(from[i] >= 0) || from[i] != std::trunc(from[i]) || from[i] > kMax) {
        fail_invalid(
            "data: the label of sample {} is {}; expected the number of a class: 0, 1, ...; if it "
            "is a quantity, set train.loss.kind = \"l2\"",
            request.samples[static_cast<size_t>(i)].index, from[i]);
      }
      to[i] = static_cast<int64_t>(from[i]);
    }
    return classes;
  }

 private:
  static constexpr double kMax = 1 << 30;
};

}  // namespace

data::Transform class_numbers() { return std::make_shared<ClassNumbers>(); }

}  // namespace thalweg::cli
