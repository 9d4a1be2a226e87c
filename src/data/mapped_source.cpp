#include "data/mapped_source.h"

#include "base/fail.h"
#include "data/rows.h"
#include "data/stack.h"

namespace thalweg::data {
namespace {

class MappedSource final : public SampleSource {
 public:
  MappedSource(std::shared_ptr<const SampleSource> base, SampleFunction function)
      : base_(std::move(base)), function_(std::move(function)), fields_(base_->fields()) {
    if (size() == 0) return;
    const SampleKey first{0, 0};
    const Request request{std::span(&first, 1), 0};
    const std::vector<Tensor> sample = mapped(base_->gather(request), request, 0);
    for (size_t f = 0; f < fields_.size(); ++f) {
      if (!sample[f].defined()) fail_invalid("map: field '{}' is left undefined", fields_[f].name);
      fields_[f].dtype = sample[f].dtype();
      fields_[f].shape = sample[f].shape();
    }
  }

  std::string name() const override { return base_->name(); }
  int64_t size() const override { return base_->size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::vector<std::string>& class_names() const override { return base_->class_names(); }

  std::vector<Tensor> gather(const Request& request) const override {
    const std::vector<Tensor> columns =
        base_->gather({request.samples, derive_seed(request.seed, 0)});
    std::vector<Tensor> result;
    for (const Field& field : fields_) {
      result.push_back(
          Tensor::empty(batch_shape(request.size(), field.shape), {.dtype = field.dtype}));
    }
    for (size_t i = 0; i < request.size(); ++i) {
      const std::vector<Tensor> sample = mapped(columns, request, i);
      call_for_sample("map", request.samples[i], [&] {
        for (size_t f = 0; f < result.size(); ++f) put_row("map", sample[f], result[f], i);
      });
    }
    return result;
  }

 private:
  // Row i of the columns after the function.
  std::vector<Tensor> mapped(const std::vector<Tensor>& columns, const Request& request,
                             size_t i) const {
    std::vector<Tensor> sample;
    for (const Tensor& column : columns) sample.push_back(row_of(column, static_cast<int64_t>(i)));
    Philox random = request.random(i, 0);
    call_for_sample("map", request.samples[i], [&] {
      function_(sample, random);
      if (sample.size() != fields_.size()) {
        fail_invalid("map: a sample has {} fields afterwards; {} had {} before", sample.size(),
                     name(), fields_.size());
      }
    });
    return sample;
  }

  std::shared_ptr<const SampleSource> base_;
  SampleFunction function_;
  std::vector<Field> fields_;
};

}  // namespace

std::shared_ptr<const SampleSource> make_mapped(std::shared_ptr<const SampleSource> base,
                                                SampleFunction function) {
  if (!function) fail_invalid("map: no function was given");
  return std::make_shared<MappedSource>(std::move(base), std::move(function));
}

}  // namespace thalweg::data
