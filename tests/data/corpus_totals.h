#pragma once

#include <map>
#include <string>

#include <thalweg/data/deserializer.h>

namespace thalweg::data {

struct StreamTotals {
  int64_t samples = 0;
  int64_t values = 0;  // stored
  double sum = 0;
};

struct Totals {
  int64_t sequences = 0;  // that were not dropped
  int64_t samples = 0;    // their lengths' sum
  int64_t longest = 0;
  std::map<std::string, StreamTotals> streams;
};

template <typename T>
double sum_of(const void* values, int64_t begin, int64_t end) {
  double sum = 0;
  for (int64_t i = begin; i < end; ++i)
    sum += static_cast<double>(static_cast<const T*>(values)[i]);
  return sum;
}

/// Goes through all of a corpus.
inline Totals totals_of(const Deserializer& corpus) {
  Totals totals;
  for (int64_t c = 0; corpus.has_chunk(c); ++c) {
    const auto chunk = corpus.load(c);
    for (int64_t s = 0; s < corpus.chunk(c).sequences; ++s) {
      if (chunk->length(s) == Chunk::kDropped) continue;
      ++totals.sequences;
      totals.samples += chunk->length(s);
      totals.longest = std::max(totals.longest, chunk->length(s));
      for (size_t i = 0; i < corpus.streams().size(); ++i) {
        const StreamInfo& info = corpus.streams()[i];
        const StreamValues values = chunk->read(s, i, {});
        StreamTotals& stream = totals.streams[info.name];
        stream.samples += values.samples;
        const int64_t begin = info.sparse ? values.row_starts[0] : 0;
        const int64_t end = info.sparse ? values.row_starts[values.samples]
                                        : values.samples * element_count(info.shape);
        stream.values += end - begin;
        stream.sum += info.dtype == DType::f32 ? sum_of<float>(values.values, begin, end)
                                               : sum_of<double>(values.values, begin, end);
      }
    }
  }
  return totals;
}

}  // namespace thalweg::data
