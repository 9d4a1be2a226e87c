#include "data/reader/composite.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/fail.h"
#include "data/formats/problem_log.h"
#include "data/reader/corpus_index.h"

namespace thalweg::data {
namespace {

// A sequence of another deserializer, in a chunk of it that is loaded.
struct Partner {
  const Chunk* chunk;
  int64_t sequence;
};

class JoinedChunk final : public Chunk {
 public:
  explicit JoinedChunk(std::shared_ptr<const Chunk> first) : first_(std::move(first)) {}

  // The streams of the next part: `partners` has an entry per sequence.
  void add(std::vector<std::shared_ptr<const Chunk>> chunks, std::vector<Partner> partners) {
    others_.push_back({std::move(chunks), std::move(partners)});
  }
  void set_streams(const std::vector<std::pair<size_t, size_t>>* streams) { streams_ = streams; }

  size_t bytes() const override {
    size_t bytes = first_->bytes();
    for (const Other& other : others_) {
      bytes += other.partners.size() * sizeof(Partner);
      for (const auto& chunk : other.chunks) bytes += chunk->bytes();
    }
    return bytes;
  }

  int64_t length(int64_t sequence) const override {
    int64_t longest = first_->length(sequence);
    for (const Other& other : others_) {
      const Partner& partner = other.partners[static_cast<size_t>(sequence)];
      const int64_t length = partner.chunk->length(partner.sequence);
      longest = longest == kDropped || length == kDropped ? kDropped : std::max(longest, length);
    }
    return longest;
  }

  StreamValues read(int64_t sequence, size_t stream, const SequenceDraw& draw) const override {
    const auto [part, number] = (*streams_)[stream];
    if (part == 0) return first_->read(sequence, number, draw);
    const Partner& partner = others_[part - 1].partners[static_cast<size_t>(sequence)];
    return partner.chunk->read(partner.sequence, number, draw);
  }

  std::string where(int64_t sequence) const override { return first_->where(sequence); }

 private:
  struct Other {
    std::vector<std::shared_ptr<const Chunk>> chunks;
    std::vector<Partner> partners;
  };

  std::shared_ptr<const Chunk> first_;
  std::vector<Other> others_;
  const std::vector<std::pair<size_t, size_t>>* streams_ = nullptr;
};

class Composite final : public Deserializer {
 public:
  explicit Composite(std::vector<DeserializerHandle> parts) : parts_(std::move(parts)) {
    for (size_t p = 0; p < parts_.size(); ++p) {
      check_kind(*parts_[p]);
      const std::vector<StreamInfo>& streams = parts_[p]->streams();
      for (size_t s = 0; s < streams.size(); ++s) add_stream(streams[s], p, s);
    }
    reset();
  }

  std::string name() const override {
    std::string names = parts_[0]->name();
    for (size_t p = 1; p < parts_.size(); ++p) names += " with " + parts_[p]->name();
    return names;
  }
  const std::vector<StreamInfo>& streams() const override { return streams_; }

  void limit_chunks(size_t bytes) override {
    for (const DeserializerHandle& part : parts_) part->limit_chunks(bytes / parts_.size());
    reset();
  }

  bool has_chunk(int64_t chunk) const override {
    if (index(0).has_chunk(chunk)) return true;
    pair_all();
    return false;
  }

  int64_t chunks() const override {
    pair_all();
    return index(0).chunks();
  }

  ChunkInfo chunk(int64_t chunk) const override {
    pair_keys();
    ChunkInfo info = index(0).chunk(chunk);
    for (size_t p = 1; p < parts_.size(); ++p) {
      const auto add = [&](const ChunkInfo& whole, int64_t count) {
        const double share = static_cast<double>(count) / static_cast<double>(whole.sequences);
        info.bytes += static_cast<size_t>(share * static_cast<double>(whole.bytes));
        info.load_bytes += static_cast<size_t>(share * static_cast<double>(whole.load_bytes));
      };
      // Parts take about what as many sequences of the first partner's chunk take.
      if (parts_[p]->loads_parts() && info.sequences > 0) {
        const Place first = partner_of(p, chunk, index(0).first_sequence(chunk), 0);
        add(index(p).chunk(first.chunk), info.sequences);
        continue;
      }
      for (const auto& [other, wanted] : needed(p, chunk, {})) {
        const ChunkInfo whole = index(p).chunk(other);
        add(whole, whole.sequences);
      }
    }
    return info;
  }

  std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted& wanted) const override {
    pair_keys();
    auto joined = std::make_shared<JoinedChunk>(parts_[0]->load(chunk, wanted));
    for (size_t p = 1; p < parts_.size(); ++p) {
      std::vector<std::shared_ptr<const Chunk>> chunks;
      std::unordered_map<int64_t, const Chunk*> by_number;
      for (auto& [other, part] : needed(p, chunk, wanted)) {
        const bool is_whole = std::ranges::find(part, false) == part.end();
        chunks.push_back(parts_[p]->load(other, is_whole ? Wanted{} : part));
        by_number.emplace(other, chunks.back().get());
      }
      std::vector<Partner> partners;
      const int64_t first = index(0).first_sequence(chunk);
      for (int64_t s = 0; s < index(0).chunk(chunk).sequences; ++s) {
        const Place place = partner_of(p, chunk, first, s);
        partners.push_back({by_number.at(place.chunk), place.sequence});
      }
      joined->add(std::move(chunks), std::move(partners));
    }
    joined->set_streams(&numbers_);
    return joined;
  }

  bool loads_parts() const override {
    return std::ranges::all_of(parts_, [](const auto& part) { return part->loads_parts(); });
  }

  KeyKind key_kind() const override { return parts_[0]->key_kind(); }
  SequenceKey key(int64_t chunk, int64_t sequence) const override {
    return parts_[0]->key(chunk, sequence);
  }

  ReadProblems problems() const override {
    ReadProblems all;
    for (const DeserializerHandle& part : parts_) append(all, part->problems());
    return all;
  }

 private:
  CorpusIndex& index(size_t part) const { return *indexes_[part]; }

  void check_kind(const Deserializer& part) const {
    if (part.key_kind() == parts_[0]->key_kind()) return;
    const auto describe = [](const Deserializer& d) {
      const char* kinds[] = {"no keys", "numbers as keys", "texts as keys"};
      return fmt::format("{} has {}", d.name(), kinds[static_cast<int>(d.key_kind())]);
    };
    fail_invalid(
        "reader: sequences cannot be paired; {}, and {}; give all keys of one kind, or none",
        describe(*parts_[0]), describe(part));
  }

  void add_stream(const StreamInfo& stream, size_t part, size_t number) {
    for (size_t i = 0; i < streams_.size(); ++i) {
      if (streams_[i].name != stream.name) continue;
      fail_invalid("reader: stream '{}' is in {} and in {}; give one of them another name",
                   stream.name, parts_[numbers_[i].first]->name(), parts_[part]->name());
    }
    streams_.push_back(stream);
    numbers_.emplace_back(part, number);
  }

  void reset() {
    indexes_.clear();
    for (const DeserializerHandle& part : parts_)
      indexes_.push_back(std::make_unique<CorpusIndex>(part));
    partners_.assign(parts_.size(), {});
    paired_ = std::make_unique<std::once_flag>();
  }

  // Looks up all keys, and finds that each is in every part exactly once.
  void pair_keys() const {
    if (key_kind() == KeyKind::position) return;
    std::call_once(*paired_, [&] {
      for (size_t p = 0; p < parts_.size(); ++p) {
        auto& places = partners_[p];
        for (int64_t chunk = 0; chunk < index(p).chunks(); ++chunk) {
          for (int64_t s = 0; s < index(p).chunk(chunk).sequences; ++s) {
            const SequenceKey key = parts_[p]->key(chunk, s);
            if (!places.emplace(key, Place{chunk, s}).second)
              fail_invalid("reader: key {} is twice in {}", to_string(key), parts_[p]->name());
            if (p > 0 && !partners_[0].contains(key)) fail_alone(key, p, 0);
          }
        }
        if (p == 0) continue;
        for (const auto& [key, place] : partners_[0])
          if (!places.contains(key)) fail_alone(key, 0, p);
      }
    });
  }

  [[noreturn]] void fail_alone(const SequenceKey& key, size_t in, size_t not_in) const {
    fail_invalid("reader: sequence {} of {} has no partner in {}", to_string(key),
                 parts_[in]->name(), parts_[not_in]->name());
  }

  void pair_all() const {
    pair_keys();
    if (key_kind() != KeyKind::position) return;
    for (size_t p = 1; p < parts_.size(); ++p) {
      if (index(p).sequences() == index(0).sequences()) continue;
      fail_invalid(
          "reader: sequences without keys are paired by their number; {} has {}, and {} has {}",
          parts_[0]->name(), index(0).sequences(), parts_[p]->name(), index(p).sequences());
    }
  }

  // Where part `p` has the partner of a sequence of the first part; `first` is the number of the
  // chunk's first.
  Place partner_of(size_t p, int64_t chunk, int64_t first, int64_t sequence) const {
    if (key_kind() != KeyKind::position) return partners_[p].at(parts_[0]->key(chunk, sequence));
    const std::optional<Place> place = index(p).find(first + sequence);
    if (!place) fail_alone(static_cast<uint64_t>(first + sequence), 0, p);
    return *place;
  }

  // The chunks of part `p` that have partners, of sequences not wanted too as their lengths are
  // asked, and which of theirs are wanted.
  std::map<int64_t, Wanted> needed(size_t p, int64_t chunk, const Wanted& wanted) const {
    std::map<int64_t, Wanted> result;
    const int64_t first = index(0).first_sequence(chunk);
    const int64_t count = index(0).chunk(chunk).sequences;
    for (int64_t s = 0; s < count; ++s) {
      const Place place = partner_of(p, chunk, first, s);
      Wanted& part = result[place.chunk];
      if (part.empty()) part.resize(static_cast<size_t>(index(p).chunk(place.chunk).sequences));
      if (wanted.empty() || wanted[static_cast<size_t>(s)])
        part[static_cast<size_t>(place.sequence)] = true;
    }
    return result;
  }

  std::vector<DeserializerHandle> parts_;
  std::vector<StreamInfo> streams_;
  std::vector<std::pair<size_t, size_t>> numbers_;  // part, and stream of the part
  std::vector<std::unique_ptr<CorpusIndex>> indexes_;
  mutable std::vector<std::unordered_map<SequenceKey, Place>> partners_;  // by key, of each part
  std::unique_ptr<std::once_flag> paired_;
};

}  // namespace

std::shared_ptr<Deserializer> compose(std::vector<DeserializerHandle> parts) {
  return std::make_shared<Composite>(std::move(parts));
}

}  // namespace thalweg::data
