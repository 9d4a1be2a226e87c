#include <algorithm>

#include <thalweg/data/transforms.h>

#include "base/fail.h"
#include "data/convert.h"
#include "data/rows.h"
#include "data/stack.h"

namespace thalweg::data {
namespace {

class Convert final : public TransformStep {
 public:
  Convert(const char* operation, Conversion conversion)
      : operation_(operation), conversion_(std::move(conversion)) {}

  Field output(const Field& input) const override {
    SampleConverter(operation_, input.dtype, input.shape, conversion_);
    return {input.name, conversion_.dtype, input.shape};
  }

  Tensor apply(const Tensor& values, const Request& request, uint64_t) const override {
    Tensor result = Tensor::empty(values.shape(), {.dtype = conversion_.dtype});
    if (values.size() == 0) return result;
    Shape sample = values.shape();
    sample.erase(0);
    const SampleConverter convert(operation_, values.dtype(), sample, conversion_);
    const auto items = static_cast<size_t>(element_count(sample));
    const auto* from = values.impl()->as<const std::byte>();
    auto* to = result.impl()->as<std::byte>();
    for (size_t i = 0; i < request.size(); ++i) {
      convert(from + i * items * item_size(values.dtype()),
              to + i * items * item_size(result.dtype()));
    }
    return result;
  }

  const Conversion* as_conversion() const override { return &conversion_; }

 private:
  const char* operation_;
  Conversion conversion_;
};

class Flatten final : public TransformStep {
 public:
  Field output(const Field& input) const override {
    return {input.name, input.dtype, {element_count(input.shape)}};
  }

  Tensor apply(const Tensor& values, const Request&, uint64_t) const override {
    const int64_t n = values.shape()[0];
    Shape sample = values.shape();
    sample.erase(0);
    return with_shape(values, {n, element_count(sample)});
  }
};

class OneHot final : public TransformStep {
 public:
  explicit OneHot(int64_t classes) : classes_(classes) {
    if (classes < 1) fail_invalid("one_hot: {} classes; there must be at least 1", classes);
  }

  Field output(const Field& input) const override {
    if (!is_integer(input.dtype)) {
      fail_invalid("one_hot: field '{}' is {}; labels are integers", input.name, name(input.dtype));
    }
    Shape shape = input.shape;
    shape.push_back(classes_);
    return {input.name, DType::f32, shape};
  }

  Tensor apply(const Tensor& values, const Request& request, uint64_t) const override {
    Shape shape = values.shape();
    shape.push_back(classes_);
    Tensor result = Tensor::zeros(shape);
    float* out = result.impl()->as<float>();
    const auto n = static_cast<size_t>(values.size());
    const size_t per_sample = n / std::max<size_t>(1, request.size());
    visit_dtype(values.dtype(), [&](auto zero) {
      const auto* labels = values.impl()->as<decltype(zero)>();
      for (size_t i = 0; i < n; ++i) {
        const auto label = static_cast<int64_t>(labels[i]);
        if (label < 0 || label >= classes_) fail_label(label, request.samples[i / per_sample]);
        out[i * static_cast<size_t>(classes_) + static_cast<size_t>(label)] = 1;
      }
    });
    return result;
  }

 private:
  [[noreturn]] void fail_label(int64_t label, const SampleKey& sample) const {
    fail_invalid("one_hot: label {} is not in [0, {}); sample {}", label, classes_, sample.index);
  }

  int64_t classes_;
};

class Each final : public TransformStep {
 public:
  using Function = std::function<Tensor(const Tensor& sample, Philox& random)>;

  explicit Each(Function function) : function_(std::move(function)) {
    if (!function_) fail_invalid("each: no function was given");
  }

  Field output(const Field& input) const override {
    Philox random(0);
    const Tensor made = function_(Tensor::zeros(input.shape, {.dtype = input.dtype}), random);
    if (!made.defined()) fail_invalid("each: the function returns an undefined tensor");
    return {input.name, made.dtype(), made.shape()};
  }

  Tensor apply(const Tensor& values, const Request& request, uint64_t stream) const override {
    Tensor result;
    for (size_t i = 0; i < request.size(); ++i) {
      Philox random = request.random(i, stream);
      call_for_sample("each", request.samples[i], [&] {
        const Tensor made = function_(row_of(values, static_cast<int64_t>(i)), random);
        if (!made.defined()) fail_invalid("each: the function returns an undefined tensor");
        if (i == 0) {
          result =
              Tensor::empty(batch_shape(request.size(), made.shape()), {.dtype = made.dtype()});
        }
        put_row("each", made, result, i);
      });
    }
    return result.defined() ? result : empty_result(values);
  }

 private:
  Tensor empty_result(const Tensor& values) const {
    Shape sample = values.shape();
    sample.erase(0);
    const Field field = output({"", values.dtype(), sample});
    return Tensor::empty(batch_shape(0, field.shape), {.dtype = field.dtype});
  }

  Function function_;
};

class Compose final : public TransformStep {
 public:
  explicit Compose(std::vector<Transform> steps) : steps_(std::move(steps)) {}

  Field output(const Field& input) const override {
    Field field = input;
    for (const Transform& step : steps_) field = step->output(field);
    return field;
  }

  Tensor apply(const Tensor& values, const Request& request, uint64_t stream) const override {
    constexpr uint64_t kMaxSteps = 256;
    Tensor result = values;
    for (size_t i = 0; i < steps_.size(); ++i)
      result = steps_[i]->apply(result, request, (stream + 1) * kMaxSteps + i);
    return result;
  }

 private:
  std::vector<Transform> steps_;
};

}  // namespace

Transform cast(DType dtype, double scale) {
  return std::make_shared<Convert>("cast", Conversion{dtype, {scale}, {0}});
}

Transform normalize(NormalizeOptions options) {
  const size_t n = std::max(options.mean.size(), options.std.size());
  Conversion conversion{DType::f32, std::vector<double>(n), std::vector<double>(n)};
  for (const auto* values : {&options.mean, &options.std}) {
    if (values->size() != n && values->size() != 1) {
      fail_invalid("normalize: {} means and {} standard deviations do not fit together",
                   options.mean.size(), options.std.size());
    }
  }
  for (size_t i = 0; i < n; ++i) {
    const double mean = options.mean[options.mean.size() == 1 ? 0 : i];
    const double std = options.std[options.std.size() == 1 ? 0 : i];
    if (std == 0) fail_invalid("normalize: standard deviation {} is 0", i);
    conversion.scale[i] = 1 / std;
    conversion.shift[i] = -mean / std;
  }
  return std::make_shared<Convert>("normalize", std::move(conversion));
}

Transform flatten() { return std::make_shared<Flatten>(); }

Transform one_hot(int64_t classes) { return std::make_shared<OneHot>(classes); }

Transform each(std::function<Tensor(const Tensor& sample, Philox& random)> function) {
  return std::make_shared<Each>(std::move(function));
}

Transform compose(std::vector<Transform> steps) {
  return std::make_shared<Compose>(std::move(steps));
}

}  // namespace thalweg::data
