#include "data/formats/sample_table.h"

namespace thalweg::data {

StreamColumns::StreamColumns(int64_t dim, bool sparse, DType dtype)
    : dim_(dim), sparse_(sparse), dtype_(dtype) {
  if (sparse) row_starts_.push_back(0);
  starts_.push_back(0);
}

void StreamColumns::end_sample() {
  ++samples_;
  if (sparse_) row_starts_.push_back(static_cast<int64_t>(stored()));
}

void StreamColumns::truncate(size_t stored) {
  f32_.truncate(dtype_ == DType::f32 ? stored : 0);
  f64_.truncate(dtype_ == DType::f64 ? stored : 0);
  if (sparse_) columns_.truncate(stored);
}

void StreamColumns::drop_sample() {
  truncate(sparse_ ? static_cast<size_t>(row_starts_.back())
                   : samples_ * static_cast<size_t>(dim_));
}

void StreamColumns::drop_sequence() {
  samples_ = starts_.back();
  if (sparse_) row_starts_.truncate(samples_ + 1);
  drop_sample();
}

size_t StreamColumns::bytes() const {
  return f32_.bytes() + f64_.bytes() + columns_.bytes() + row_starts_.bytes() + starts_.bytes();
}

void StreamColumns::shrink() {
  f32_.shrink();
  f64_.shrink();
  columns_.shrink();
  row_starts_.shrink();
  starts_.shrink();
}

StreamValues StreamColumns::read(size_t sequence) const {
  const size_t first = starts_[sequence];
  StreamValues result;
  result.samples = starts_[sequence + 1] - first;
  const size_t skipped = sparse_ ? 0 : first * static_cast<size_t>(dim_);
  if (dtype_ == DType::f32) {
    result.values = f32_.data() + skipped;
  } else {
    result.values = f64_.data() + skipped;
  }
  if (sparse_) {
    result.columns = columns_.data();
    result.row_starts = row_starts_.data() + first;
  }
  return result;
}

void SampleTable::end_sequence(int64_t length) {
  for (StreamColumns& stream : streams_) stream.end_sequence();
  lengths_.push_back(static_cast<int32_t>(length));
}

void SampleTable::drop_sequence(int64_t length) {
  for (StreamColumns& stream : streams_) stream.drop_sequence();
  end_sequence(length);
}

void SampleTable::shrink() {
  for (StreamColumns& stream : streams_) stream.shrink();
  lengths_.shrink();
}

size_t SampleTable::bytes() const {
  size_t sum = sizeof(*this) + lengths_.bytes();
  for (const StreamColumns& stream : streams_) sum += sizeof(stream) + stream.bytes();
  return sum;
}

}  // namespace thalweg::data
