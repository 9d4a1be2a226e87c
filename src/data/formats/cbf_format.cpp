// CBF's row in the table of formats, and writing it.

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <thalweg/base/text.h>
#include <thalweg/base/writer.h>
#include <thalweg/data/cbf.h>
#include <thalweg/tensor/dtype.h>

#include "base/fail.h"
#include "data/formats/cbf_header.h"
#include "data/formats/format_rows.h"

namespace thalweg::data {
namespace {

// The element type that holds all numbers of a dtype.
DType stored_dtype(DType dtype) {
  const bool is_wide = dtype == DType::f64 || dtype == DType::i64 || dtype == DType::i32;
  return is_wide ? DType::f64 : DType::f32;
}

class CbfWriter final : public SequenceWriter {
 public:
  CbfWriter(const std::string& path, const WriteOptions& options)
      : file_(path), streams_(options.streams), parts_(streams_.size()) {
    for (const StreamInfo& stream : streams_) {
      if (std::ranges::find(stream.shape, -1) != stream.shape.end() ||
          element_count(stream.shape) > std::numeric_limits<int32_t>::max() ||
          element_count(stream.shape) < 1)
        fail_invalid("cbf: stream '{}' cannot have samples of shape {}", stream.name,
                     to_string(stream.shape));
    }
    file_.write_le(kCbfMagic);
    file_.write_le(kCbfVersion);
  }

  void write(const SequenceKey&, std::span<const StreamValues> values) override {
    int64_t longest = 0;
    for (size_t i = 0; i < streams_.size(); ++i) {
      longest = std::max(longest, values[i].samples);
      add_sequence(streams_[i], values[i], parts_[i]);
    }
    if (longest < 1 || longest > std::numeric_limits<int32_t>::max())
      fail_invalid("cbf: a sequence cannot have {} samples", longest);
    lengths_.push_back(static_cast<uint32_t>(longest));
    samples_ += static_cast<uint64_t>(longest);
    size_t bytes = 0;
    for (const MemoryWriter& part : parts_) bytes += part.bytes().size();
    if (bytes >= kChunk || samples_ > std::numeric_limits<int32_t>::max()) end_chunk();
  }

  void commit() override {
    if (!lengths_.empty()) end_chunk();
    const uint64_t header = file_.offset();
    file_.write_le(kCbfMagic);
    file_.write_le(static_cast<uint32_t>(chunks_.size()));
    file_.write_le(static_cast<uint32_t>(streams_.size()));
    for (const StreamInfo& stream : streams_) {
      file_.write_le<uint8_t>(stream.sparse);
      file_.write_le(static_cast<uint32_t>(stream.name.size()));
      file_.write(stream.name);
      file_.write_le<uint8_t>(stored_dtype(stream.dtype) == DType::f64);
      file_.write_le(static_cast<uint32_t>(element_count(stream.shape)));
    }
    for (const CbfChunkHeader& chunk : chunks_) {
      file_.write_le(chunk.offset);
      file_.write_le(chunk.sequences);
      file_.write_le(chunk.samples);
    }
    file_.write_le(header);
    file_.commit();
  }

 private:
  static constexpr size_t kChunk = 1 << 20;

  void end_chunk() {
    chunks_.push_back({file_.offset(), 0, static_cast<uint32_t>(lengths_.size()),
                       static_cast<uint32_t>(samples_)});
    for (const uint32_t length : lengths_) file_.write_le(length);
    for (MemoryWriter& part : parts_) file_.write(part.bytes());
    parts_ = std::vector<MemoryWriter>(streams_.size());
    lengths_.clear();
    samples_ = 0;
  }

  static void add_sequence(const StreamInfo& stream, const StreamValues& values,
                           MemoryWriter& out) {
    const int64_t samples = values.samples;
    out.write_le(static_cast<uint32_t>(samples));
    if (!stream.sparse) {
      add_values(stream, values.values, 0, samples * element_count(stream.shape), out);
      return;
    }
    const int64_t begin = samples > 0 ? values.row_starts[0] : 0;
    const int64_t end = samples > 0 ? values.row_starts[samples] : 0;
    if (end - begin > std::numeric_limits<int32_t>::max())
      fail_invalid("cbf: a sequence cannot have {} stored values", end - begin);
    out.write_le(static_cast<uint32_t>(end - begin));
    add_values(stream, values.values, begin, end, out);
    for (int64_t i = begin; i < end; ++i) out.write_le(values.columns[i]);
    for (int64_t s = 0; s < samples; ++s)
      out.write_le(static_cast<uint32_t>(values.row_starts[s + 1] - values.row_starts[s]));
  }

  static void add_values(const StreamInfo& stream, const void* values, int64_t begin, int64_t end,
                         MemoryWriter& out) {
    visit_dtype(stream.dtype, [&](auto zero) {
      using T = decltype(zero);
      const std::span<const T> items(static_cast<const T*>(values) + begin,
                                     static_cast<size_t>(end - begin));
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        out.write(std::as_bytes(items));
      } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, int32_t>) {
        for (const T item : items) out.write_le(exact(item));
      } else {
        for (const T item : items) out.write_le(static_cast<float>(item));
      }
    });
  }

  static double exact(int64_t value) {
    const auto rounded = static_cast<double>(value);
    if (std::abs(rounded) > 0x1p53) fail_invalid("cbf: f64 cannot hold {}", value);
    return rounded;
  }

  AtomicFile file_;
  std::vector<StreamInfo> streams_;
  std::vector<MemoryWriter> parts_;  // of the chunk that is being made, stream by stream
  std::vector<uint32_t> lengths_;
  uint64_t samples_ = 0;
  std::vector<CbfChunkHeader> chunks_;
};

std::shared_ptr<Deserializer> open(const std::string& path, const FormatOptions& options) {
  std::vector<CbfStream> streams;
  for (const StreamSpec& spec : options.streams) streams.push_back({spec.name, spec.field});
  auto corpus = std::make_shared<CBFDeserializer>(path, streams);
  for (size_t i = 0; i < streams.size(); ++i) {
    const StreamInfo& found = corpus->streams()[i];
    if (found.sparse != options.streams[i].sparse || found.shape[0] != options.streams[i].dim()) {
      fail_invalid("cbf: stream '{}' is {} with {} values, not as {} says", found.name,
                   found.sparse ? "sparse" : "dense", found.shape[0],
                   to_string(options.streams[i]));
    }
  }
  return corpus;
}

std::unique_ptr<SequenceWriter> create(const std::string& path, const WriteOptions& options) {
  return std::make_unique<CbfWriter>(path, options);
}

}  // namespace

Format cbf_format() {
  Format format;
  format.name = "cbf";
  format.doc = "CNTK Binary Format, version 1";
  format.extensions = {".cbf", ".bin"};
  format.holds_keys = false;
  format.open = open;
  format.create = create;
  return format;
}

}  // namespace thalweg::data
