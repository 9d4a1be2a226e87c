#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include <thalweg/data/minibatch_source.h>

namespace thalweg::data {

/// A format of the tests' own: sequence i of the corpus has samples i, i + 0.001, i + 0.002, ... in
/// stream "x", one value each, and i in stream "id".
class NumberedCorpus : public Deserializer {
 public:
  struct Options {
    std::vector<int64_t> chunks = {};  // sequences of each
    std::function<int64_t(int64_t)> length = [](int64_t) { return 1; };
    size_t sequence_bytes = 1000;  // that a sequence takes, or says it does
    bool loads_parts = false;
    std::function<void(int64_t)> on_read = [](int64_t) {};
    std::function<void(int64_t)> on_load = [](int64_t) {};  // with the chunk
    std::vector<int64_t> dropped = {};
  };

  explicit NumberedCorpus(Options options) : options_(std::move(options)) {}
  static NumberedCorpus of(int64_t sequences, int64_t chunk) {
    Options options;
    for (int64_t i = 0; i < sequences; i += chunk)
      options.chunks.push_back(std::min(chunk, sequences - i));
    return NumberedCorpus(options);
  }
  Options& options() { return options_; }

  std::string name() const override { return "numbers"; }
  const std::vector<StreamInfo>& streams() const override { return streams_; }
  bool has_chunk(int64_t chunk) const override {
    *most_asked_ = std::max<int64_t>(*most_asked_, chunk);
    return chunk < static_cast<int64_t>(options_.chunks.size());
  }
  int64_t chunks() const override { return static_cast<int64_t>(options_.chunks.size()); }
  ChunkInfo chunk(int64_t chunk) const override {
    const auto n = options_.chunks[static_cast<size_t>(chunk)];
    return {n, static_cast<size_t>(n) * options_.sequence_bytes, 0};
  }
  bool loads_parts() const override { return options_.loads_parts; }
  std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted& wanted) const override {
    options_.on_load(chunk);
    ++*loads_;
    int64_t first = 0;
    for (int64_t i = 0; i < chunk; ++i) first += options_.chunks[static_cast<size_t>(i)];
    return std::make_shared<Part>(*this, first, this->chunk(chunk), wanted);
  }

  int64_t loads() const { return *loads_; }
  int64_t most_asked() const { return *most_asked_; }

 private:
  class Part : public Chunk {
   public:
    Part(const NumberedCorpus& corpus, int64_t first, ChunkInfo info, Wanted wanted)
        : options_(corpus.options_), first_(first), info_(info), wanted_(std::move(wanted)) {
      values_.resize(static_cast<size_t>(info.sequences));
      ids_.resize(values_.size());
      for (size_t s = 0; s < values_.size(); ++s) {
        const int64_t number = first_ + static_cast<int64_t>(s);
        ids_[s] = number;
        for (int64_t i = 0; i < options_.length(number); ++i)
          values_[s].push_back(static_cast<float>(number) + 0.001f * static_cast<float>(i));
      }
    }
    size_t bytes() const override {
      if (wanted_.empty()) return info_.bytes;
      return options_.sequence_bytes * static_cast<size_t>(std::ranges::count(wanted_, true));
    }
    int64_t length(int64_t sequence) const override {
      const int64_t number = first_ + sequence;
      for (int64_t dropped : options_.dropped)
        if (dropped == number) return kDropped;
      return options_.length(number);
    }
    StreamValues read(int64_t sequence, size_t stream, const SequenceDraw&) const override {
      const auto s = static_cast<size_t>(sequence);
      if (!wanted_.empty() && !wanted_[s]) throw std::logic_error("it was not wanted");
      options_.on_read(first_ + sequence);
      StreamValues values;
      values.samples = stream == 0 ? static_cast<int64_t>(values_[s].size()) : 1;
      values.values = stream == 0 ? static_cast<const void*>(values_[s].data()) : &ids_[s];
      return values;
    }
    std::string where(int64_t sequence) const override {
      return "numbers:" + std::to_string(first_ + sequence);
    }

   private:
    Options options_;
    int64_t first_;
    ChunkInfo info_;
    Wanted wanted_;
    std::vector<std::vector<float>> values_;
    std::vector<int64_t> ids_;
  };

  Options options_;
  std::vector<StreamInfo> streams_{{"x", DType::f32, {}}, {"id", DType::i64, {}}};
  std::shared_ptr<std::atomic<int64_t>> loads_ = std::make_shared<std::atomic<int64_t>>(0);
  std::shared_ptr<std::atomic<int64_t>> most_asked_ = std::make_shared<std::atomic<int64_t>>(0);
};

/// The sequences' numbers in a minibatch.
inline std::vector<int64_t> ids_of(const Minibatch& minibatch) {
  return minibatch["id"].to_vector<int64_t>();
}

/// The numbers in all minibatches to come.
inline std::vector<std::vector<int64_t>> rest_of(MinibatchSource& source, int64_t size) {
  std::vector<std::vector<int64_t>> all;
  while (const Minibatch minibatch = source.next_minibatch(size)) all.push_back(ids_of(minibatch));
  return all;
}

inline std::vector<int64_t> flat(const std::vector<std::vector<int64_t>>& minibatches) {
  std::vector<int64_t> all;
  for (const auto& minibatch : minibatches)
    all.insert(all.end(), minibatch.begin(), minibatch.end());
  return all;
}

}  // namespace thalweg::data
