#include <algorithm>
#include <cmath>
#include <numeric>

#include <thalweg/base/permutation.h>
#include <thalweg/data/dataset.h>

#include "base/fail.h"
#include "data/array_source.h"
#include "data/mapped_source.h"
#include "data/rows.h"
#include "data/transform_source.h"
#include "data/views.h"

namespace thalweg::data {
namespace {

constexpr int64_t kPiece = 256;  // samples looked at together
constexpr uint64_t kSplitStream = 0x5711;

std::vector<SampleKey> keys_of(std::span<const int64_t> indices) {
  std::vector<SampleKey> keys;
  keys.reserve(indices.size());
  for (int64_t index : indices) keys.push_back({index, 0});
  return keys;
}

std::vector<SampleKey> keys_between(int64_t begin, int64_t end) {
  std::vector<SampleKey> keys;
  for (int64_t i = begin; i < end; ++i) keys.push_back({i, 0});
  return keys;
}

void check_indices(const char* operation, std::span<const int64_t> indices, int64_t size) {
  for (int64_t index : indices) {
    if (index < 0 || index >= size)
      fail_invalid("{}: there is no sample {}; there are {}", operation, index, size);
  }
}

Batch one_sample(const std::shared_ptr<const SampleSource>& source,
                 const std::vector<Tensor>& columns, int64_t row, int64_t index) {
  std::vector<Tensor> fields;
  for (size_t f = 0; f < columns.size(); ++f) fields.push_back(row_of(columns[f], row));
  return Batch(source, std::move(fields), {{index, 0}});
}

}  // namespace

Batch Dataset::operator[](int64_t index) const {
  const int64_t i = index < 0 ? index + size() : index;
  if (i < 0 || i >= size())
    fail_invalid("dataset: there is no sample {}; {} has {}", index, name(), size());
  const SampleKey key{i, 0};
  return one_sample(source_, source_->gather({std::span(&key, 1), 0}), 0, i);
}

Batch Dataset::gather(std::span<const int64_t> indices) const {
  check_indices("gather", indices, size());
  std::vector<SampleKey> keys = keys_of(indices);
  std::vector<Tensor> columns = source_->gather({keys, 0});
  return Batch(source_, std::move(columns), std::move(keys));
}

Dataset Dataset::take(int64_t count) const {
  if (count < 0) fail_invalid("take: {} samples cannot be taken", count);
  return slice(0, std::min(count, size()));
}

Dataset Dataset::slice(int64_t begin, int64_t end) const {
  if (begin < 0 || begin > end || end > size()) {
    fail_invalid("slice: samples {} to {} are not in a set of {}", begin, end, size());
  }
  return Dataset(make_slice(source_, begin, end - begin));
}

Dataset Dataset::subset(std::vector<int64_t> indices) const {
  check_indices("subset", indices, size());
  return Dataset(make_subset(source_, std::move(indices)));
}

Dataset Dataset::filter(const std::function<bool(const Batch& sample)>& keep) const {
  std::vector<int64_t> kept;
  for (int64_t begin = 0; begin < size(); begin += kPiece) {
    const int64_t end = std::min(size(), begin + kPiece);
    const std::vector<Tensor> columns = source_->gather({keys_between(begin, end), 0});
    for (int64_t i = begin; i < end; ++i)
      if (keep(one_sample(source_, columns, i - begin, i))) kept.push_back(i);
  }
  return Dataset(make_subset(source_, std::move(kept)));
}

Dataset Dataset::shard(int64_t index, int64_t count) const {
  if (count < 1 || index < 0 || index >= count)
    fail_invalid("shard: there is no part {} of {} parts", index, count);
  const int64_t each = size() / count;
  const int64_t longer = size() % count;
  const int64_t begin = index * each + std::min(index, longer);
  return slice(begin, begin + each + (index < longer ? 1 : 0));
}

std::pair<Dataset, Dataset> Dataset::split(double fraction, uint64_t seed) const {
  if (!(fraction >= 0 && fraction <= 1))
    fail_invalid("split: fraction {} is not between 0 and 1", fraction);
  const auto first = static_cast<size_t>(std::llround(fraction * static_cast<double>(size())));
  std::vector<int64_t> order(static_cast<size_t>(size()));
  if (size() > 0) {
    const Permutation permutation(static_cast<uint64_t>(size()),
                                  derive_seed(seed, 0, kSplitStream));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(permutation(i));
  }
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(order.begin(), middle);
  std::sort(middle, order.end());
  return {subset({order.begin(), middle}), subset({middle, order.end()})};
}

Dataset Dataset::transform(std::vector<Transform> steps) const {
  if (fields().empty()) fail_invalid("transform: {} has no fields", name());
  return transform(fields()[0].name, std::move(steps));
}

Dataset Dataset::transform(std::string_view field, std::vector<Transform> steps) const {
  return transform({field}, std::move(steps));
}

Dataset Dataset::transform(std::initializer_list<std::string_view> names,
                           std::vector<Transform> steps) const {
  std::vector<size_t> numbers;
  for (std::string_view name : names) numbers.push_back(field_number("transform", fields(), name));
  return Dataset(make_transformed(source_, numbers, std::move(steps)));
}

Dataset Dataset::map(SampleFunction function) const {
  return Dataset(make_mapped(source_, std::move(function)));
}

Dataset Dataset::cached(uint64_t seed) const {
  std::vector<NamedTensor> whole;
  for (const Field& field : fields()) {
    const Shape shape = batch_shape(static_cast<size_t>(size()), field.shape);
    whole.push_back({field.name, Tensor::empty(shape, {.dtype = field.dtype})});
  }
  for (int64_t begin = 0; begin < size(); begin += kPiece) {
    const std::vector<SampleKey> keys = keys_between(begin, std::min(size(), begin + kPiece));
    const std::vector<Tensor> columns = source_->gather({keys, seed});
    for (size_t f = 0; f < columns.size(); ++f) put_rows(columns[f], whole[f].tensor, begin);
  }
  return Dataset(std::make_shared<ArraySource>(name(), whole, class_names()));
}

Dataset concat(const std::vector<Dataset>& sets) {
  if (sets.empty()) fail_invalid("concat: no set was given");
  std::vector<std::shared_ptr<const SampleSource>> sources;
  for (const Dataset& set : sets) {
    const auto& first = sets[0].fields();
    const auto& fields = set.fields();
    const bool same = std::ranges::equal(first, fields, [](const Field& a, const Field& b) {
      return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape;
    });
    if (!same) {
      fail_invalid("concat: fields differ: {} has {}, {} has {}", sets[0].name(), describe(first),
                   set.name(), describe(fields));
    }
    sources.push_back(set.source());
  }
  return Dataset(make_concat(std::move(sources)));
}

ArrayDataset::ArrayDataset(const std::vector<NamedTensor>& fields,
                           std::vector<std::string> class_names)
    : Dataset(std::make_shared<ArraySource>("arrays", fields, std::move(class_names))) {}

}  // namespace thalweg::data
