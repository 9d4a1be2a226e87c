#include <algorithm>

#include <thalweg/data/cbf.h>

#include "base/fail.h"
#include "data/formats/cbf_chunk.h"
#include "data/formats/make.h"

namespace thalweg::data {
namespace {

// CNTK's converter makes a chunk of every sequence once the first chunk is full.
constexpr uint64_t kJoined = 1 << 20;

class CbfCorpus final : public Deserializer {
 public:
  CbfCorpus(std::unique_ptr<ByteSource> source, const std::vector<CbfStream>& streams)
      : source_(std::move(source)), header_(read_cbf_header(*source_)) {
    if (streams.empty()) {
      for (const CbfStreamHeader& stream : header_.streams) add_stream({stream.name, stream.name});
    }
    for (const CbfStream& stream : streams) add_stream(stream);
    join_chunks(kJoined);
  }

  std::string name() const override { return source_->name(); }
  const std::vector<StreamInfo>& streams() const override { return infos_; }
  void limit_chunks(size_t bytes) override { join_chunks(std::min<uint64_t>(kJoined, bytes / 2)); }
  bool has_chunk(int64_t chunk) const override { return chunk < chunks(); }
  int64_t chunks() const override { return static_cast<int64_t>(joined_.size()); }

  ChunkInfo chunk(int64_t chunk) const override {
    const Joined& joined = joined_.at(static_cast<size_t>(chunk));
    ChunkInfo info;
    size_t per_sequence = 4;
    for (const StreamInfo& stream : infos_)
      per_sequence += 12 + (stream.sparse ? 24 : 0) + (stream.dtype == DType::f64 ? 8 : 0);
    for (const CbfChunkHeader& part : parts(joined)) {
      info.sequences += part.sequences;
      info.bytes += part.size + per_sequence * part.sequences;
    }
    const bool has_f64 =
        std::ranges::any_of(infos_, [](const auto& s) { return s.dtype == DType::f64; });
    const bool has_sparse = std::ranges::any_of(infos_, [](const auto& s) { return s.sparse; });
    if (has_f64) info.bytes *= 2;
    for (const CbfChunkHeader& part : parts(joined))
      info.bytes += has_sparse ? 8 * part.samples : 0;
    info.bytes += info.bytes / 2 + 4096;  // what lists of places take too much while they grow
    return info;
  }

  std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted&) const override {
    const Joined& joined = joined_.at(static_cast<size_t>(chunk));
    return std::make_shared<CbfChunk>(*source_, header_, parts(joined), chosen_, joined.sequence);
  }

 private:
  struct Joined {
    size_t first = 0;  // of the file's chunks
    size_t count = 0;
    int64_t sequence = 0;  // number of its first
  };

  std::span<const CbfChunkHeader> parts(const Joined& joined) const {
    return std::span(header_.chunks).subspan(joined.first, joined.count);
  }

  void add_stream(const CbfStream& stream) {
    const std::string& field = stream.field.empty() ? stream.name : stream.field;
    for (size_t i = 0; i < header_.streams.size(); ++i) {
      const CbfStreamHeader& found = header_.streams[i];
      if (found.name != field) continue;
      if (std::ranges::find(chosen_, i) != chosen_.end())
        fail_invalid("cbf: stream '{}' is asked for twice; {}", field, name());
      chosen_.push_back(i);
      infos_.push_back({stream.name, found.dtype, {int64_t{found.dim}}, found.sparse, {}});
      return;
    }
    std::vector<std::string> names;
    for (const CbfStreamHeader& found : header_.streams) names.push_back(found.name);
    fail_invalid("cbf: there is no stream '{}'; {} has {}", field, name(), fmt::join(names, ", "));
  }

  void join_chunks(uint64_t limit) {
    joined_.clear();
    uint64_t bytes = 0;
    int64_t sequence = 0;
    for (size_t i = 0; i < header_.chunks.size(); ++i) {
      const CbfChunkHeader& part = header_.chunks[i];
      if (part.sequences == 0) continue;
      const bool is_next = !joined_.empty() && joined_.back().first + joined_.back().count == i;
      if (!is_next || bytes + part.size > limit) {
        joined_.push_back({i, 0, sequence});
        bytes = 0;
      }
      ++joined_.back().count;
      bytes += part.size;
      sequence += part.sequences;
    }
    if (joined_.empty()) fail_io("cbf: the file holds no sequences; {}", name());
  }

  std::unique_ptr<ByteSource> source_;
  CbfHeader header_;
  std::vector<size_t> chosen_;  // of the file's streams
  std::vector<StreamInfo> infos_;
  std::vector<Joined> joined_;
};

}  // namespace

std::unique_ptr<Deserializer> make_cbf(std::unique_ptr<ByteSource> source,
                                       const std::vector<CbfStream>& streams) {
  return std::make_unique<CbfCorpus>(std::move(source), streams);
}

CBFDeserializer::CBFDeserializer(const std::string& path, const std::vector<CbfStream>& streams) {
  inner_ = make_cbf(open_source(path), streams);
}

}  // namespace thalweg::data
