#include "data/formats/joined_corpus.h"

#include <algorithm>
#include <limits>

#include "base/fail.h"
#include "data/formats/problem_log.h"

namespace thalweg::data {
namespace {

bool are_same(const StreamInfo& a, const StreamInfo& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.sparse == b.sparse &&
         a.class_names == b.class_names;
}

}  // namespace

JoinedCorpus::JoinedCorpus(std::vector<std::shared_ptr<Deserializer>> parts)
    : parts_(std::move(parts)) {
  for (const auto& part : parts_) {
    if (!std::ranges::equal(part->streams(), streams(), are_same) ||
        part->key_kind() != key_kind()) {
      fail_invalid(
          "data: files of one corpus have to have the same streams and keys; {} differs from {}",
          part->name(), parts_[0]->name());
    }
  }
}

std::string JoinedCorpus::name() const {
  return fmt::format("{} and {} more files", parts_[0]->name(), parts_.size() - 1);
}

void JoinedCorpus::limit_chunks(size_t bytes) {
  for (const auto& part : parts_) part->limit_chunks(bytes);
}

JoinedCorpus::Place JoinedCorpus::find(int64_t chunk) const {
  const std::lock_guard lock(mutex_);
  while (true) {
    const auto after = std::ranges::upper_bound(first_chunks_, chunk);
    const auto number = static_cast<size_t>(after - first_chunks_.begin()) - 1;
    if (number == parts_.size()) return {};
    const int64_t local = chunk - first_chunks_[number];
    if (parts_[number]->has_chunk(local)) return {parts_[number].get(), local};
    first_chunks_.push_back(first_chunks_[number] + parts_[number]->chunks());
  }
}

JoinedCorpus::Place JoinedCorpus::get(int64_t chunk) const {
  const Place place = find(chunk);
  if (place.part == nullptr) fail_invalid("data: there is no chunk {}; {}", chunk, name());
  return place;
}

int64_t JoinedCorpus::chunks() const {
  find(std::numeric_limits<int64_t>::max());
  return first_chunks_.back();
}

ChunkInfo JoinedCorpus::chunk(int64_t chunk) const {
  const Place place = get(chunk);
  return place.part->chunk(place.chunk);
}

std::shared_ptr<const Chunk> JoinedCorpus::load(int64_t chunk, const Wanted& wanted) const {
  const Place place = get(chunk);
  return place.part->load(place.chunk, wanted);
}

bool JoinedCorpus::loads_parts() const {
  return std::ranges::all_of(parts_, [](const auto& part) { return part->loads_parts(); });
}

SequenceKey JoinedCorpus::key(int64_t chunk, int64_t sequence) const {
  const Place place = get(chunk);
  return place.part->key(place.chunk, sequence);
}

ReadProblems JoinedCorpus::problems() const {
  ReadProblems all;
  for (const auto& part : parts_) append(all, part->problems());
  return all;
}

}  // namespace thalweg::data
