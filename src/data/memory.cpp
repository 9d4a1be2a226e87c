#include <algorithm>
#include <cstring>
#include <numeric>

#include <thalweg/data/memory.h>

#include "base/fail.h"
#include "data/rows.h"

namespace thalweg::data {
namespace {

constexpr const char* kOperation = "MemoryDeserializer";

CsrTensor checked(const std::string& name, CsrTensor csr) {
  csr.values = row_major_on_host(kOperation, csr.values);
  csr.columns = row_major_on_host(kOperation, csr.columns);
  csr.row_starts = row_major_on_host(kOperation, csr.row_starts);
  const bool has_rows = csr.shape.size() == 2 && csr.shape[0] >= 0 && csr.shape[1] > 0;
  if (!has_rows || csr.columns.dtype() != DType::i32 || csr.row_starts.dtype() != DType::i64 ||
      csr.row_starts.shape() != Shape{csr.shape[0] + 1} ||
      csr.columns.shape() != csr.values.shape() || csr.values.dims() != 1) {
    fail_invalid(
        "{}: the parts of sparse stream '{}' do not fit; shape {}, values {} {}, columns {} {}, "
        "row_starts {} {}; expected [rows, width], [stored], i32 [stored], i64 [rows + 1]",
        kOperation, name, to_string(csr.shape), thalweg::name(csr.values.dtype()),
        to_string(csr.values.shape()), thalweg::name(csr.columns.dtype()),
        to_string(csr.columns.shape()), thalweg::name(csr.row_starts.dtype()),
        to_string(csr.row_starts.shape()));
  }
  const int64_t* starts = csr.row_starts.data<int64_t>();
  if (starts[0] != 0 || starts[csr.shape[0]] != csr.values.size() ||
      !std::is_sorted(starts, starts + csr.shape[0] + 1))
    fail_invalid("{}: row_starts of sparse stream '{}' do not grow from 0 to {}", kOperation, name,
                 csr.values.size());
  return csr;
}

}  // namespace

MemoryStream::MemoryStream(std::string stream, Tensor rows, std::vector<int64_t> samples)
    : name(std::move(stream)),
      dense(row_major_on_host(kOperation, rows)),
      lengths(std::move(samples)) {
  if (dense.dims() == 0)
    fail_invalid("{}: '{}' is 0-d; its first axis must be the samples", kOperation, name);
}

MemoryStream::MemoryStream(std::string stream, CsrTensor rows, std::vector<int64_t> samples)
    : name(std::move(stream)), csr(checked(name, std::move(rows))), lengths(std::move(samples)) {}

MemoryStream::MemoryStream(std::string stream, const std::vector<Tensor>& sequences)
    : name(std::move(stream)) {
  if (sequences.empty()) fail_invalid("{}: '{}' has no sequence", kOperation, name);
  int64_t rows = 0;
  for (const Tensor& sequence : sequences) {
    if (!sequence.defined() || sequence.dims() == 0)
      fail_invalid("{}: a sequence of '{}' has no axis of samples", kOperation, name);
    rows += sequence.shape()[0];
    lengths.push_back(sequence.shape()[0]);
  }
  Shape shape = sequences[0].shape();
  shape[0] = rows;
  dense = Tensor::empty(shape, {.dtype = sequences[0].dtype()});
  int64_t row = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    shape[0] = lengths[i];
    if (sequences[i].shape() != shape || sequences[i].dtype() != dense.dtype()) {
      fail_invalid("{}: sequences of '{}' differ; the first is {} {}, sequence {} is {} {}",
                   kOperation, name, thalweg::name(dense.dtype()), to_string(sequences[0].shape()),
                   i, thalweg::name(sequences[i].dtype()), to_string(sequences[i].shape()));
    }
    put_rows(row_major_on_host(kOperation, sequences[i]), dense, row);
    row += lengths[i];
  }
}

class MemoryDeserializer::Arrays final : public Chunk {
 public:
  Arrays(const std::vector<MemoryStream>& streams, std::vector<SequenceKey> keys)
      : keys_(std::move(keys)) {
    if (streams.empty()) fail_invalid("{}: no stream was given", kOperation);
    for (const MemoryStream& stream : streams) add(stream);
    if (!keys_.empty() && static_cast<int64_t>(keys_.size()) != sequences_) {
      fail_invalid("{}: there are {} keys and {} sequences", kOperation, keys_.size(), sequences_);
    }
  }

  const std::vector<StreamInfo>& streams() const { return infos_; }
  const std::vector<SequenceKey>& keys() const { return keys_; }
  int64_t sequences() const { return sequences_; }
  int64_t samples() const {
    int64_t samples = 0;
    for (int64_t i = 0; i < sequences_; ++i) samples += length(i);
    return samples;
  }

  // They are there with or without a reader.
  size_t bytes() const override { return 0; }

  int64_t length(int64_t sequence) const override {
    int64_t longest = 0;
    for (const Column& column : columns_) longest = std::max(longest, column.samples_of(sequence));
    return longest;
  }

  StreamValues read(int64_t sequence, size_t stream, const SequenceDraw&) const override {
    const Column& column = columns_[stream];
    StreamValues values;
    values.samples = column.samples_of(sequence);
    const int64_t first = column.first_of(sequence);
    if (infos_[stream].sparse) {
      values.values = column.data.csr.values.impl()->data;
      values.columns = column.data.csr.columns.impl()->as<const int32_t>();
      values.row_starts = column.data.csr.row_starts.impl()->as<const int64_t>() + first;
    } else {
      values.values = column.data.dense.impl()->as<const std::byte>() +
                      static_cast<size_t>(first) * column.row_bytes;
    }
    return values;
  }

  std::string where(int64_t sequence) const override {
    return fmt::format("sequence {} in memory", sequence);
  }

 private:
  struct Column {
    MemoryStream data;
    size_t row_bytes = 0;           // dense
    std::vector<int64_t> starts{};  // first row of each sequence, and the end; empty: its number

    int64_t first_of(int64_t sequence) const {
      return starts.empty() ? sequence : starts[static_cast<size_t>(sequence)];
    }
    int64_t samples_of(int64_t sequence) const {
      return starts.empty() ? 1 : first_of(sequence + 1) - first_of(sequence);
    }
  };

  void add(const MemoryStream& stream) {
    const bool sparse = !stream.dense.defined();
    Column column{stream};
    StreamInfo info{stream.name, DType::f32, {}, sparse, stream.class_names};
    const Tensor& values = sparse ? stream.csr.values : stream.dense;
    info.dtype = values.dtype();
    info.shape = sparse ? stream.csr.shape : stream.dense.shape();
    const int64_t rows = info.shape[0];
    info.shape.erase(0);
    column.row_bytes = static_cast<size_t>(element_count(info.shape)) * item_size(info.dtype);
    int64_t sequences = rows;
    if (!stream.lengths.empty()) {
      sequences = static_cast<int64_t>(stream.lengths.size());
      column.starts.push_back(0);
      for (int64_t length : stream.lengths) {
        if (length < 0) fail_invalid("{}: a length of '{}' is {}", kOperation, stream.name, length);
        column.starts.push_back(column.starts.back() + length);
      }
      if (column.starts.back() != rows) {
        fail_invalid("{}: lengths of '{}' sum to {}; it has {} rows", kOperation, stream.name,
                     column.starts.back(), rows);
      }
    }
    if (columns_.empty()) sequences_ = sequences;
    if (sequences != sequences_) {
      fail_invalid("{}: numbers of sequences differ; '{}' has {}, '{}' has {}", kOperation,
                   infos_[0].name, sequences_, stream.name, sequences);
    }
    columns_.push_back(std::move(column));
    infos_.push_back(std::move(info));
  }

  int64_t sequences_ = 0;
  std::vector<StreamInfo> infos_;
  std::vector<Column> columns_;
  std::vector<SequenceKey> keys_;
};

MemoryDeserializer::MemoryDeserializer(const std::vector<MemoryStream>& streams,
                                       std::vector<SequenceKey> keys)
    : arrays_(std::make_shared<Arrays>(streams, std::move(keys))) {}

const std::vector<StreamInfo>& MemoryDeserializer::streams() const { return arrays_->streams(); }

ChunkInfo MemoryDeserializer::chunk(int64_t) const {
  return {.sequences = arrays_->sequences(), .samples = arrays_->samples()};
}

std::shared_ptr<const Chunk> MemoryDeserializer::load(int64_t, const Wanted&) const {
  return arrays_;
}

KeyKind MemoryDeserializer::key_kind() const {
  if (arrays_->keys().empty()) return KeyKind::position;
  return arrays_->keys()[0].index() == 0 ? KeyKind::number : KeyKind::text;
}

SequenceKey MemoryDeserializer::key(int64_t, int64_t sequence) const {
  return arrays_->keys().at(static_cast<size_t>(sequence));
}

}  // namespace thalweg::data
