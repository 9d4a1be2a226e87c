#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <thalweg/data/ctf.h>

#include "base/fail.h"
#include "data/formats/ctf_file.h"
#include "data/formats/paths.h"

namespace thalweg::data {
namespace {

void check_field(const std::string& field) {
  const bool is_name = !field.empty() && field[0] != '#' && std::ranges::none_of(field, [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == '|' || c == 0x7F;
  });
  if (!is_name)
    fail_invalid("ctf: '{}' cannot be a field; expected no blanks, no '|' and no '#' first", field);
}

void check_stream(const CtfStream& stream) {
  if (!stream.shape.empty() && (stream.sparse || element_count(stream.shape) != stream.dim)) {
    fail_invalid("ctf: stream '{}' cannot have the shape {}; its dim is {}", stream.name,
                 to_string(stream.shape), stream.dim);
  }
  if (stream.dim < 1 || stream.dim > std::numeric_limits<int32_t>::max()) {
    fail_invalid("ctf: stream '{}' cannot have dim {}; expected 1 to 2^31 - 1", stream.name,
                 stream.dim);
  }
  if (stream.dtype != DType::f32 && stream.dtype != DType::f64) {
    fail_invalid("ctf: stream '{}' cannot be {}; expected f32 or f64", stream.name,
                 name(stream.dtype));
  }
  check_field(stream.field);
}

CtfRules make_rules(std::vector<CtfStream> streams, const CtfOptions& options) {
  if (streams.empty()) fail_invalid("ctf: there are no streams; name at least one");
  CtfRules rules{{}, options.compat, options.skip_sequence_ids, -1};
  for (CtfStream& stream : streams) {
    if (stream.field.empty()) stream.field = stream.name;
    if (stream.name.empty()) stream.name = stream.field;
    check_stream(stream);
    for (const CtfStream& other : rules.streams) {
      if (other.name == stream.name || other.field == stream.field)
        fail_invalid("ctf: two streams have the name or field '{}'", stream.name);
    }
    if (stream.counts_samples && rules.counting >= 0)
      fail_invalid("ctf: streams '{}' and '{}' both count samples; expected one at most",
                   rules.streams[static_cast<size_t>(rules.counting)].name, stream.name);
    if (stream.counts_samples) rules.counting = static_cast<int>(rules.streams.size());
    rules.streams.push_back(std::move(stream));
  }
  return rules;
}

}  // namespace

class CTFDeserializer::Impl {
 public:
  Impl(const std::vector<std::string>& paths, std::vector<CtfStream> streams, CtfOptions options)
      : options_(std::move(options)), rules_(make_rules(std::move(streams), options_)) {
    if (options_.max_errors < 0)
      fail_invalid("ctf: max_errors cannot be {}; expected 0 or more", options_.max_errors);
    if (paths.empty()) fail_invalid("ctf: there are no files; name at least one");
    if (options_.single_sequences &&
        (options_.compat || options_.max_errors > 0 || rules_.counting >= 0))
      fail_invalid(
          "ctf: single_sequences needs data that are read strictly; set no compat, max_errors or "
          "counts_samples");
    for (const std::string& path : paths)
      files_.push_back(std::make_unique<CtfFile>(path, rules_, options_));
    for (const CtfStream& stream : rules_.streams)
      infos_.push_back({stream.name,
                        stream.dtype,
                        stream.shape.empty() ? Shape{stream.dim} : stream.shape,
                        stream.sparse,
                        {}});
    limits_.chunk_bytes = options_.chunk_bytes;
    if (options_.chunk_bytes == 0) limits_.chunk_bytes = options_.compat ? 32 << 20 : 8 << 20;
    limit_chunks(SIZE_MAX);
  }

  std::string name() const {
    if (files_.size() == 1) return files_[0]->path();
    return fmt::format("{} and {} more files", files_[0]->path(), files_.size() - 1);
  }
  const std::vector<StreamInfo>& streams() const { return infos_; }

  void limit_chunks(size_t bytes) {
    limits_.chunk_cost = bytes;
    for (const auto& file : files_) file->set_limits(limits_);
  }

  bool has_chunk(int64_t chunk) {
    const std::lock_guard lock(mutex_);
    return find(chunk).file != nullptr;
  }

  int64_t chunks() {
    const std::lock_guard lock(mutex_);
    find(std::numeric_limits<int64_t>::max());
    return first_chunks_.back();
  }

  ChunkInfo chunk(int64_t chunk) {
    const CtfRange range = get(chunk).chunk.range;
    return {range.sequences, ctf_cost(rules_, range), range.size + kLoadSlack, range.rows};
  }

  std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted& wanted) {
    Place place = get(chunk);
    if (!wanted.empty()) {
      const std::lock_guard lock(mutex_);
      place.chunk.sequences = place.file->sequences_of(place.chunk.range);
    }
    return place.file->load(place.chunk, wanted, problems_, problems_mutex_);
  }

  bool loads_parts() {
    const std::lock_guard lock(mutex_);
    return std::ranges::all_of(files_, [](const auto& file) { return file->loads_parts(); });
  }

  KeyKind key_kind() {
    return get(0).chunk.mode == CtfMode::ids ? KeyKind::number : KeyKind::position;
  }

  uint64_t key(int64_t chunk, int64_t sequence) {
    const std::lock_guard lock(keys_mutex_);
    const auto known = std::ranges::find(known_keys_, chunk, &ChunkKeys::chunk);
    if (known == known_keys_.end()) {
      const Place place = get(chunk);
      known_keys_[next_keys_] = {chunk, place.file->keys(place.chunk)};
      return known_keys_[std::exchange(next_keys_, (next_keys_ + 1) % known_keys_.size())].keys.at(
          static_cast<size_t>(sequence));
    }
    return known->keys.at(static_cast<size_t>(sequence));
  }

  ReadProblems problems() const {
    const std::lock_guard lock(problems_mutex_);
    return problems_;
  }

 private:
  static constexpr size_t kLoadSlack = 4096;

  struct Place {
    CtfFile* file = nullptr;
    CtfPlace chunk = {};
  };

  // No file if there are fewer chunks.
  Place find(int64_t chunk) {
    while (true) {
      const auto after = std::ranges::upper_bound(first_chunks_, chunk);
      const auto number = static_cast<size_t>(after - first_chunks_.begin()) - 1;
      if (number == files_.size()) return {};
      CtfFile& file = *files_[number];
      const auto local = static_cast<size_t>(chunk - first_chunks_[number]);
      const bool has_chunk = file.has_chunk(local);
      if (number > 0 && file.mode() != files_[0]->mode()) {
        fail_io("{}: of these files some have sequence ids and some have not; {} differs",
                file.path(), files_[0]->path());
      }
      if (has_chunk) return {&file, file.chunk(local)};
      first_chunks_.push_back(first_chunks_[number] + static_cast<int64_t>(file.chunks()));
    }
  }

  Place get(int64_t chunk) {
    const std::lock_guard lock(mutex_);
    const Place place = find(chunk);
    if (place.file == nullptr) fail_invalid("ctf: there is no chunk {}; {}", chunk, name());
    return place;
  }

  CtfOptions options_;
  CtfRules rules_;
  CtfLimits limits_;
  std::vector<StreamInfo> infos_;
  std::vector<std::unique_ptr<CtfFile>> files_;
  std::vector<int64_t> first_chunks_ = {0};  // of the files as far as known
  std::mutex mutex_;

  // Of the chunks asked for last: all of them may be more than fits in memory.
  struct ChunkKeys {
    int64_t chunk = -1;
    std::vector<uint64_t> keys = {};
  };
  std::array<ChunkKeys, 4> known_keys_;
  size_t next_keys_ = 0;
  std::mutex keys_mutex_;

  ReadProblems problems_;
  mutable std::mutex problems_mutex_;
};

CTFDeserializer::CTFDeserializer(const std::string& path, std::vector<CtfStream> streams,
                                 CtfOptions options)
    : CTFDeserializer(expand_path(path), std::move(streams), std::move(options)) {}
CTFDeserializer::CTFDeserializer(const std::vector<std::string>& paths,
                                 std::vector<CtfStream> streams, CtfOptions options)
    : impl_(std::make_unique<Impl>(paths, std::move(streams), std::move(options))) {}
CTFDeserializer::~CTFDeserializer() = default;
CTFDeserializer::CTFDeserializer(CTFDeserializer&&) noexcept = default;
CTFDeserializer& CTFDeserializer::operator=(CTFDeserializer&&) noexcept = default;

std::string CTFDeserializer::name() const { return impl_->name(); }
const std::vector<StreamInfo>& CTFDeserializer::streams() const { return impl_->streams(); }
void CTFDeserializer::limit_chunks(size_t bytes) { impl_->limit_chunks(bytes); }
bool CTFDeserializer::has_chunk(int64_t chunk) const { return impl_->has_chunk(chunk); }
int64_t CTFDeserializer::chunks() const { return impl_->chunks(); }
ChunkInfo CTFDeserializer::chunk(int64_t chunk) const { return impl_->chunk(chunk); }
std::shared_ptr<const Chunk> CTFDeserializer::load(int64_t chunk, const Wanted& wanted) const {
  return impl_->load(chunk, wanted);
}
bool CTFDeserializer::loads_parts() const { return impl_->loads_parts(); }
KeyKind CTFDeserializer::key_kind() const { return impl_->key_kind(); }
SequenceKey CTFDeserializer::key(int64_t chunk, int64_t sequence) const {
  return impl_->key(chunk, sequence);
}
ReadProblems CTFDeserializer::problems() const { return impl_->problems(); }

}  // namespace thalweg::data
