#include "data/views.h"

#include <algorithm>
#include <cstring>

#include "base/fail.h"

namespace thalweg::data {
namespace {

using SourcePtr = std::shared_ptr<const SampleSource>;

/// `kIndex` maps a number of the view to one of the base.
template <typename Index>
class View final : public SampleSource {
 public:
  View(SourcePtr base, int64_t size, Index index)
      : base_(std::move(base)), size_(size), index_(std::move(index)) {}

  std::string name() const override { return base_->name(); }
  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return base_->fields(); }
  const std::vector<std::string>& class_names() const override { return base_->class_names(); }

  std::vector<Tensor> gather(const Request& request) const override {
    std::vector<SampleKey> keys(request.samples.begin(), request.samples.end());
    for (SampleKey& key : keys) key.index = index_(key.index);
    return base_->gather({keys, request.seed});
  }

  SourcePtr converted(size_t field, const Conversion& conversion) const override {
    SourcePtr base = base_->converted(field, conversion);
    return base ? std::make_shared<View>(std::move(base), size_, index_) : nullptr;
  }

 private:
  SourcePtr base_;
  int64_t size_;
  Index index_;
};

struct Offset {
  int64_t begin;
  int64_t operator()(int64_t i) const { return begin + i; }
};

struct Listed {
  std::shared_ptr<const std::vector<int64_t>> indices;
  int64_t operator()(int64_t i) const { return (*indices)[static_cast<size_t>(i)]; }
};

class Concat final : public SampleSource {
 public:
  explicit Concat(std::vector<SourcePtr> parts) : parts_(std::move(parts)) {
    for (const SourcePtr& part : parts_) ends_.push_back(size() + part->size());
  }

  std::string name() const override { return parts_[0]->name(); }
  int64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  const std::vector<Field>& fields() const override { return parts_[0]->fields(); }
  const std::vector<std::string>& class_names() const override { return parts_[0]->class_names(); }

  std::vector<Tensor> gather(const Request& request) const override {
    std::vector<std::vector<SampleKey>> keys(parts_.size());
    std::vector<std::vector<size_t>> places(parts_.size());
    for (size_t i = 0; i < request.size(); ++i) {
      SampleKey key = request.samples[i];
      const size_t part = part_of(key.index);
      key.index -= part == 0 ? 0 : ends_[part - 1];
      keys[part].push_back(key);
      places[part].push_back(i);
    }
    std::vector<Tensor> result;
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (keys[p].empty() && (p > 0 || request.size() > 0)) continue;
      // Random transforms of the parts see numbers of their own.
      std::vector<Tensor> columns =
          parts_[p]->gather({keys[p], derive_seed(request.seed, static_cast<uint64_t>(p))});
      if (keys[p].size() == request.size()) return columns;
      if (result.empty()) result = empty_columns(columns, request.size());
      for (size_t f = 0; f < columns.size(); ++f) put_rows(columns[f], places[p], result[f]);
    }
    return result;
  }

  SourcePtr converted(size_t field, const Conversion& conversion) const override {
    std::vector<SourcePtr> parts;
    for (const SourcePtr& part : parts_) {
      parts.push_back(part->converted(field, conversion));
      if (!parts.back()) return nullptr;
    }
    return std::make_shared<Concat>(std::move(parts));
  }

 private:
  size_t part_of(int64_t index) const {
    return static_cast<size_t>(std::ranges::upper_bound(ends_, index) - ends_.begin());
  }

  static std::vector<Tensor> empty_columns(const std::vector<Tensor>& like, size_t n) {
    std::vector<Tensor> result;
    for (const Tensor& column : like) {
      Shape shape = column.shape();
      shape[0] = static_cast<int64_t>(n);
      result.push_back(Tensor::empty(shape, {.dtype = column.dtype()}));
    }
    return result;
  }

  static void put_rows(const Tensor& rows, const std::vector<size_t>& places, const Tensor& into) {
    const size_t count = places.size();
    const size_t row_bytes = static_cast<size_t>(rows.size()) / count * item_size(rows.dtype());
    const std::byte* from = rows.impl()->as<const std::byte>();
    std::byte* to = into.impl()->as<std::byte>();
    for (size_t i = 0; i < count; ++i)
      std::memcpy(to + places[i] * row_bytes, from + i * row_bytes, row_bytes);
  }

  std::vector<SourcePtr> parts_;
  std::vector<int64_t> ends_;  // running sums of the parts' sizes
};

}  // namespace

SourcePtr make_slice(SourcePtr base, int64_t begin, int64_t count) {
  return std::make_shared<View<Offset>>(std::move(base), count, Offset{begin});
}

SourcePtr make_subset(SourcePtr base, std::vector<int64_t> indices) {
  const auto size = static_cast<int64_t>(indices.size());
  return std::make_shared<View<Listed>>(
      std::move(base), size,
      Listed{std::make_shared<const std::vector<int64_t>>(std::move(indices))});
}

SourcePtr make_concat(std::vector<SourcePtr> parts) {
  return std::make_shared<Concat>(std::move(parts));
}

}  // namespace thalweg::data
