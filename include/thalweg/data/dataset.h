#pragma once

// Samples by number, and other views of the same samples. Nothing here copies a data set except
// cached().

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <thalweg/data/batch.h>
#include <thalweg/data/transforms.h>

namespace thalweg::data {

enum class Split { train, test };

/// Changes the fields of one sample, given without the batch axis, in place; `random` is the
/// sample's own in this epoch.
using SampleFunction = std::function<void(std::vector<Tensor>& fields, Philox& random)>;

/// A handle to samples of named fields; copies are cheap and share them. What returns a Dataset
/// leaves this one as it is. Reading is free for any number of threads.
class THALWEG_API Dataset {
 public:
  explicit Dataset(std::shared_ptr<const SampleSource> source) : source_(std::move(source)) {}

  int64_t size() const { return source_->size(); }
  std::string name() const { return source_->name(); }
  const std::vector<Field>& fields() const { return source_->fields(); }
  /// What the labels 0, 1, ... stand for; empty if they have no names.
  const std::vector<std::string>& class_names() const { return source_->class_names(); }

  /// One sample: its fields without the batch axis; negative numbers count from the end. Random
  /// transforms draw as in epoch 0 with seed 0.
  Batch operator[](int64_t index) const;
  /// The samples of these numbers, in this order, as one batch.
  Batch gather(std::span<const int64_t> indices) const;
  Batch gather(std::initializer_list<int64_t> indices) const {
    return gather(std::span(indices.begin(), indices.size()));
  }

  // --- views ---
  /// The first `count` samples, or all if there are fewer.
  Dataset take(int64_t count) const;
  /// Samples begin to end - 1.
  Dataset slice(int64_t begin, int64_t end) const;
  /// The samples of these numbers, in this order; a number may occur more than once.
  Dataset subset(std::vector<int64_t> indices) const;
  /// The samples for which `keep` is true; looks at every sample now, once.
  Dataset filter(const std::function<bool(const Batch& sample)>& keep) const;
  /// Part `index` of `count` parts of consecutive samples; the first size() % count are one longer.
  Dataset shard(int64_t index, int64_t count) const;
  /// Two sets without a common sample, `fraction` of all (rounded) in the first, drawn by `seed`.
  std::pair<Dataset, Dataset> split(double fraction, uint64_t seed = 0) const;

  // --- changed samples ---
  /// The first field, or those named, after each of the steps. Fields named together get the same
  /// random numbers, e.g. an image and its mask the same crop.
  Dataset transform(std::vector<Transform> steps) const;
  Dataset transform(std::string_view field, std::vector<Transform> steps) const;
  Dataset transform(std::initializer_list<std::string_view> fields,
                    std::vector<Transform> steps) const;
  /// Samples after `function`, which may change dtypes and shapes but in all samples alike; called
  /// by several threads at once when a loader has workers.
  Dataset map(SampleFunction function) const;
  /// All samples gathered into memory once: what was random stays as drawn in epoch 0 by `seed`.
  Dataset cached(uint64_t seed = 0) const;

  const std::shared_ptr<const SampleSource>& source() const { return source_; }

 private:
  std::shared_ptr<const SampleSource> source_;
};

/// The samples of all, one set after the other. Names, dtypes and shapes of the fields must agree.
THALWEG_API Dataset concat(const std::vector<Dataset>& sets);

/// A tensor and what to call it.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Tensors in memory, the first axis of each being the samples; their storage is shared, not
/// copied, unless their strides are not row-major. Throws Error{invalid} when their numbers of
/// samples differ.
class THALWEG_API ArrayDataset : public Dataset {
 public:
  explicit ArrayDataset(const Tensor& data) : ArrayDataset({{"data", data}}) {}
  ArrayDataset(const Tensor& data, const Tensor& label)
      : ArrayDataset({{"data", data}, {"label", label}}) {}
  explicit ArrayDataset(const std::vector<NamedTensor>& fields,
                        std::vector<std::string> class_names = {});
};

}  // namespace thalweg::data
