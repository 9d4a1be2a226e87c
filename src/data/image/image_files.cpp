#include <algorithm>

#include <thalweg/data/image_files.h>

#include "base/fail.h"
#include "data/image/image_reader.h"
#include "data/image/image_store.h"

namespace thalweg::data {
namespace {

constexpr int64_t kChunk = 64;  // pictures

struct ImageCorpusState {
  std::shared_ptr<const ImageStore> store;
  ImageReader reader;
  std::string label;  // the stream's name
  std::shared_ptr<ProblemLog> log;
};

// Pictures stay where they are until they are read: the chunk holds nothing.
class ImageChunk final : public Chunk {
 public:
  ImageChunk(std::shared_ptr<const ImageCorpusState> state, int64_t first, int64_t count)
      : state_(std::move(state)), first_(first) {
    for (int64_t i = 0; i < count; ++i) labels_.push_back(state_->store->label(first + i));
  }

  size_t bytes() const override { return labels_.capacity() * sizeof(int64_t); }
  int64_t length(int64_t) const override { return 1; }
  std::string where(int64_t sequence) const override {
    return state_->store->where(first_ + sequence);
  }

  StreamValues read(int64_t sequence, size_t stream, const SequenceDraw& draw) const override {
    if (stream == 1) {
      StreamValues label;
      label.samples = 1;
      label.values = &labels_[static_cast<size_t>(sequence)];
      return label;
    }
    const int64_t item = first_ + sequence;
    return state_->reader.read(static_cast<uint64_t>(item), where(sequence), draw, *state_->log,
                               [&] { return state_->store->read(item); });
  }

 private:
  std::shared_ptr<const ImageCorpusState> state_;
  int64_t first_;
  std::vector<int64_t> labels_;
};

class ImageCorpus final : public Deserializer {
 public:
  ImageCorpus(std::unique_ptr<ImageStore> store, const ImageOptions& options)
      : ImageCorpus({std::move(store), ImageReader(options), options.label,
                     std::make_shared<ProblemLog>(options.max_errors)}) {}
  explicit ImageCorpus(ImageCorpusState state)
      : state_(std::make_shared<ImageCorpusState>(std::move(state))) {
    streams_ = {state_->reader.stream(),
                {state_->label, DType::i64, {}, false, state_->store->class_names()}};
  }

  std::string name() const override { return state_->store->name(); }
  const std::vector<StreamInfo>& streams() const override { return streams_; }
  bool has_chunk(int64_t chunk) const override { return chunk < chunks(); }
  int64_t chunks() const override { return (state_->store->size() + kChunk - 1) / kChunk; }
  ChunkInfo chunk(int64_t chunk) const override {
    const int64_t count = std::min(kChunk, state_->store->size() - chunk * kChunk);
    return {count, static_cast<size_t>(count) * sizeof(int64_t), 0};
  }
  std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted&) const override {
    return std::make_shared<ImageChunk>(state_, chunk * kChunk, this->chunk(chunk).sequences);
  }
  bool loads_parts() const override { return true; }
  KeyKind key_kind() const override { return state_->store->key_kind(); }
  SequenceKey key(int64_t chunk, int64_t sequence) const override {
    return state_->store->key(chunk * kChunk + sequence);
  }
  ReadProblems problems() const override { return state_->log->problems(); }

  std::shared_ptr<Deserializer> absorb(size_t stream, const std::vector<ReadStep>& steps,
                                       size_t* taken) const override {
    ImageCorpusState state = *state_;
    *taken = stream == 0 ? state.reader.absorb(steps) : 0;
    return *taken > 0 ? std::make_shared<ImageCorpus>(std::move(state)) : nullptr;
  }

 private:
  std::shared_ptr<const ImageCorpusState> state_;
  std::vector<StreamInfo> streams_;
};

}  // namespace

ImageDeserializer::ImageDeserializer(const std::string& map_file, ImageOptions options) {
  inner_ = std::make_shared<ImageCorpus>(open_image_map(map_file, options), options);
}

ImageFolderDeserializer::ImageFolderDeserializer(const std::string& folder, ImageOptions options) {
  inner_ = std::make_shared<ImageCorpus>(open_image_folder(folder, options), options);
}

Base64ImageDeserializer::Base64ImageDeserializer(const std::string& path, ImageOptions options) {
  inner_ = std::make_shared<ImageCorpus>(open_base64_images(open_source(path), options), options);
}

}  // namespace thalweg::data
