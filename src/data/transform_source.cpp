#include "data/transform_source.h"

#include "base/fail.h"

namespace thalweg::data {
namespace {

using SourcePtr = std::shared_ptr<const SampleSource>;

class TransformSource final : public SampleSource {
 public:
  TransformSource(SourcePtr base, std::vector<size_t> numbers, std::vector<Transform> steps)
      : base_(std::move(base)),
        numbers_(std::move(numbers)),
        steps_(std::move(steps)),
        fields_(base_->fields()) {
    for (size_t f : numbers_)
      for (const Transform& step : steps_) fields_[f] = step->output(fields_[f]);
  }

  std::string name() const override { return base_->name(); }
  int64_t size() const override { return base_->size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::vector<std::string>& class_names() const override { return base_->class_names(); }

  std::vector<Tensor> gather(const Request& request) const override {
    // A seed of its own for what is below: two flips of one sample must not fall together.
    std::vector<Tensor> columns = base_->gather({request.samples, derive_seed(request.seed, 0)});
    for (size_t f : numbers_)
      for (size_t i = 0; i < steps_.size(); ++i)
        columns[f] = steps_[i]->apply(columns[f], request, i);
    return columns;
  }

 private:
  SourcePtr base_;
  std::vector<size_t> numbers_;
  std::vector<Transform> steps_;
  std::vector<Field> fields_;
};

// `base` with one conversion of all the fields in its gather, or null.
SourcePtr with_conversion(SourcePtr base, const std::vector<size_t>& fields,
                          const Conversion& conversion) {
  for (size_t f : fields) {
    base = base->converted(f, conversion);
    if (!base) return nullptr;
  }
  return base;
}

}  // namespace

SourcePtr make_transformed(SourcePtr base, const std::vector<size_t>& fields,
                           std::vector<Transform> steps) {
  size_t fused = 0;
  for (; fused < steps.size(); ++fused) {
    const Conversion* conversion = steps[fused]->as_conversion();
    if (!conversion) break;
    for (size_t f : fields) steps[fused]->output(base->fields()[f]);  // throws for a misfit
    SourcePtr next = with_conversion(base, fields, *conversion);
    if (!next) break;
    base = std::move(next);
  }
  steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(fused));
  if (steps.empty()) return base;
  return std::make_shared<TransformSource>(std::move(base), fields, std::move(steps));
}

}  // namespace thalweg::data
