#include <cmath>
#include <filesystem>

#include <thalweg/data/recordio.h>

#include "base/fail.h"
#include "data/formats/recordio_part.h"
#include "data/image/image_reader.h"
#include "data/image/record_index.h"

namespace thalweg::data {
namespace {

struct RecordCorpusState {
  RecordCorpusState(std::unique_ptr<ByteSource> bytes, const std::string& index_path,
                    const RecordImageOptions& options)
      : source(std::move(bytes)),
        index(std::make_shared<RecordIndex>(*source, index_path)),
        reader(options.image),
        label(options.image.label),
        labels(options.labels),
        classes(options.image.classes),
        log(std::make_shared<ProblemLog>(options.image.max_errors)) {}

  std::shared_ptr<const ByteSource> source;
  std::shared_ptr<RecordIndex> index;
  ImageReader reader;
  std::string label;  // the stream's name
  int64_t labels;
  int64_t classes;
  std::shared_ptr<ProblemLog> log;
};

class RecordChunk final : public Chunk {
 public:
  RecordChunk(std::shared_ptr<const RecordCorpusState> state, const RecordIndex::Chunk& place,
              const Deserializer::Wanted& wanted)
      : state_(std::move(state)), place_(place), offsets_(state_->index->offsets(place)) {
    bytes_.resize(place.bytes);
    state_->source->read_at(place.offset, std::as_writable_bytes(std::span(bytes_)));
    bad_.resize(offsets_.size());
    if (state_->labels == 0)
      classes_.resize(offsets_.size());
    else
      values_.resize(offsets_.size() * static_cast<size_t>(state_->labels));
    for (size_t i = 0; i < offsets_.size(); ++i) {
      if (!wanted.empty() && !wanted[i]) continue;
      try {
        std::string joined;
        take_labels(i, record(i, joined));
      } catch (const Error& error) {
        bad_[i] = true;
        state_->log->drop(offsets_[i], error.what());
      }
    }
  }

  size_t bytes() const override {
    return bytes_.capacity() + offsets_.capacity() * 8 + classes_.capacity() * 8 +
           values_.capacity() * 4;
  }
  int64_t length(int64_t sequence) const override {
    return bad_[static_cast<size_t>(sequence)] ? kDropped : 1;
  }
  std::string where(int64_t sequence) const override {
    return fmt::format("{} at byte {} (record {})", state_->source->name(),
                       offsets_[static_cast<size_t>(sequence)], place_.first + sequence);
  }

  StreamValues read(int64_t sequence, size_t stream, const SequenceDraw& draw) const override {
    const auto i = static_cast<size_t>(sequence);
    if (stream == 0) {
      std::string joined;
      return state_->reader.read(offsets_[i], where(sequence), draw, *state_->log,
                                 [&] { return record(i, joined).content; });
    }
    StreamValues label;
    label.samples = 1;
    label.values = state_->labels == 0 ? static_cast<const void*>(&classes_[i])
                                       : &values_[i * static_cast<size_t>(state_->labels)];
    return label;
  }

 private:
  ImageRecord record(size_t i, std::string& joined) const {
    const Bytes rest = as_bytes(bytes_).subspan(offsets_[i] - place_.offset);
    const Bytes payload = parse_record(rest, joined, state_->source->name(), offsets_[i]);
    return parse_image_record(payload, where(static_cast<int64_t>(i)));
  }

  void take_labels(size_t i, const ImageRecord& record) {
    const size_t expected = state_->labels == 0 ? 1 : static_cast<size_t>(state_->labels);
    const std::string where = this->where(static_cast<int64_t>(i));
    if (record.labels.size() != expected) {
      fail_io("recordio: another number of labels; {}: expected {}, found {}; set labels", where,
              expected, record.labels.size());
    }
    if (state_->labels > 0) {
      std::ranges::copy(record.labels, values_.begin() + static_cast<int64_t>(i * expected));
      return;
    }
    const float label = record.labels[0];
    constexpr float kExact = 1 << 24;  // beyond, whole numbers were rounded when they were written
    if (label != std::trunc(label) || std::abs(label) >= 0x1p63f) {
      fail_io(
          "recordio: the label is no class; {}: expected a whole number, found {}; set labels "
          "to read numbers",
          where, label);
    }
    if (state_->classes > 0 && (label < 0 || label >= static_cast<float>(state_->classes))) {
      fail_io("recordio: the label is out of range; {}: expected 0 to {}, found {}", where,
              state_->classes - 1, label);
    }
    if (std::abs(label) >= kExact) {
      state_->log->warn(offsets_[i], fmt::format("recordio: label {} may have been rounded when it "
                                                 "was stored as f32; {}",
                                                 label, where));
    }
    classes_[i] = static_cast<int64_t>(label);
  }

  std::shared_ptr<const RecordCorpusState> state_;
  RecordIndex::Chunk place_;
  std::vector<uint64_t> offsets_;
  std::string bytes_;
  std::vector<bool> bad_;
  std::vector<int64_t> classes_;
  std::vector<float> values_;
};

class RecordCorpus final : public Deserializer {
 public:
  RecordCorpus(std::unique_ptr<ByteSource> source, const std::string& index,
               const RecordImageOptions& options)
      : RecordCorpus(RecordCorpusState(std::move(source), index, options)) {
    if (options.labels < 0) fail_invalid("recordio: {} labels", options.labels);
  }
  explicit RecordCorpus(RecordCorpusState state)
      : state_(std::make_shared<RecordCorpusState>(std::move(state))) {
    streams_ = {state_->reader.stream(), {state_->label, DType::i64, {}, false, {}}};
    if (state_->labels > 0) streams_[1] = {state_->label, DType::f32, {state_->labels}, false, {}};
  }

  std::string name() const override { return state_->source->name(); }
  const std::vector<StreamInfo>& streams() const override { return streams_; }
  void limit_chunks(size_t bytes) override { state_->index->limit_chunks(bytes); }
  bool has_chunk(int64_t chunk) const override { return state_->index->has_chunk(chunk); }
  int64_t chunks() const override { return state_->index->chunks(); }
  ChunkInfo chunk(int64_t chunk) const override {
    const RecordIndex::Chunk place = state_->index->chunk(chunk);
    const size_t per_record = 16 + 4 * static_cast<size_t>(state_->labels);
    return {place.count, place.bytes + static_cast<size_t>(place.count) * per_record, 0};
  }
  std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted& wanted) const override {
    return std::make_shared<RecordChunk>(state_, state_->index->chunk(chunk), wanted);
  }
  KeyKind key_kind() const override {
    return state_->index->has_keys() ? KeyKind::number : KeyKind::position;
  }
  SequenceKey key(int64_t chunk, int64_t sequence) const override {
    return state_->index->key(state_->index->chunk(chunk).first + sequence);
  }
  ReadProblems problems() const override { return state_->log->problems(); }

  std::shared_ptr<Deserializer> absorb(size_t stream, const std::vector<ReadStep>& steps,
                                       size_t* taken) const override {
    RecordCorpusState state = *state_;
    *taken = stream == 0 ? state.reader.absorb(steps) : 0;
    return *taken > 0 ? std::make_shared<RecordCorpus>(std::move(state)) : nullptr;
  }

 private:
  std::shared_ptr<RecordCorpusState> state_;
  std::vector<StreamInfo> streams_;
};

}  // namespace

RecordImageDeserializer::RecordImageDeserializer(const std::string& path,
                                                 RecordImageOptions options) {
  std::string index = options.index;
  if (index.empty()) {
    const std::string beside = std::filesystem::path(path).replace_extension(".idx").string();
    std::error_code ignored;
    if (beside != path && std::filesystem::exists(beside, ignored)) index = beside;
  }
  inner_ = std::make_shared<RecordCorpus>(open_source(path), index, options);
}

}  // namespace thalweg::data
