#include <algorithm>

#include <thalweg/base/text.h>
#include <thalweg/data/weights.h>

#include "base/fail.h"

namespace thalweg::data {
namespace {

size_t stream_number(const Deserializer& deserializer, std::string_view name) {
  std::vector<std::string_view> names;
  for (const StreamInfo& stream : deserializer.streams()) {
    if (stream.name == name) return names.size();
    names.push_back(stream.name);
  }
  fail_invalid("weights: {} has no stream '{}'; it has '{}'{}", deserializer.name(), name,
               fmt::join(names, "', '"), did_you_mean(name, names));
}

// Of `count` values, the place of the largest; of one, itself.
int64_t class_of(DType dtype, const void* values, int64_t count) {
  return visit_dtype(dtype, [&](auto type) {
    const auto* from = static_cast<const decltype(type)*>(values);
    const auto value = [&](int64_t i) { return static_cast<double>(from[i]); };
    if (count == 1) return static_cast<int64_t>(value(0));
    int64_t best = 0;
    for (int64_t i = 1; i < count; ++i)
      if (value(i) > value(best)) best = i;
    return best;
  });
}

int64_t class_of(const StreamInfo& stream, const StreamValues& values) {
  if (values.samples < 1) return -1;
  if (!stream.sparse) return class_of(stream.dtype, values.values, element_count(stream.shape));
  const int64_t first = values.row_starts[0];
  const int64_t count = values.row_starts[1] - first;
  if (count == 0) return -1;
  if (count == 1) return values.columns[first];
  const auto* stored = static_cast<const std::byte*>(values.values) +
                       static_cast<size_t>(first) * item_size(stream.dtype);
  return values.columns[first + class_of(stream.dtype, stored, count)];
}

std::vector<int64_t> counts_of(const std::vector<int64_t>& classes) {
  std::vector<int64_t> counts;
  for (int64_t c : classes) {
    if (c < 0) continue;
    if (c >= static_cast<int64_t>(counts.size())) counts.resize(static_cast<size_t>(c) + 1);
    ++counts[static_cast<size_t>(c)];
  }
  return counts;
}

}  // namespace

std::vector<int64_t> read_classes(const Deserializer& deserializer, std::string_view stream) {
  constexpr int64_t kMostClasses = 1 << 24;
  const size_t number = stream_number(deserializer, stream);
  const StreamInfo& info = deserializer.streams()[number];
  std::vector<int64_t> classes;
  for (int64_t c = 0; deserializer.has_chunk(c); ++c) {
    const int64_t sequences = deserializer.chunk(c).sequences;
    const std::shared_ptr<const Chunk> chunk = deserializer.load(c);
    for (int64_t s = 0; s < sequences; ++s) {
      const bool is_dropped = chunk->length(s) == Chunk::kDropped;
      const SequenceDraw draw{static_cast<int64_t>(classes.size()), 0, 0};
      const int64_t value = is_dropped ? -1 : class_of(info, chunk->read(s, number, draw));
      if (value < -1 || value >= kMostClasses) {
        fail_invalid("weights: {} is no class; {}, stream '{}'", value, chunk->where(s), stream);
      }
      classes.push_back(value);
    }
  }
  return classes;
}

std::vector<double> balanced_weights(const std::vector<int64_t>& classes) {
  const std::vector<int64_t> counts = counts_of(classes);
  std::vector<double> weights;
  for (int64_t c : classes)
    weights.push_back(c < 0 ? 0 : 1.0 / static_cast<double>(counts[static_cast<size_t>(c)]));
  return weights;
}

std::vector<double> class_weights(const std::vector<int64_t>& classes) {
  const std::vector<int64_t> counts = counts_of(classes);
  int64_t sequences = 0;
  int64_t present = 0;
  for (int64_t count : counts) {
    sequences += count;
    present += count > 0 ? 1 : 0;
  }
  std::vector<double> weights;
  for (int64_t count : counts)
    weights.push_back(
        count == 0 ? 0 : static_cast<double>(sequences) / static_cast<double>(present * count));
  return weights;
}

}  // namespace thalweg::data
