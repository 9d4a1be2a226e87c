#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <thalweg/data/deserializer.h>

namespace thalweg::data {

/// The values of a sequence's stream as text: "1 2 3" per sample, "0:1.5 4:2" if sparse; samples
/// are parted by " | ".
inline std::string text_of(const StreamInfo& info, const StreamValues& values) {
  std::vector<std::string> samples;
  const auto per_sample =
      static_cast<size_t>(element_count(values.shape.empty() ? info.shape : values.shape));
  visit_dtype(info.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto print = [](T value) {
      if constexpr (std::is_integral_v<T>)
        return fmt::format("{}", static_cast<int64_t>(value));
      else
        return fmt::format("{}", static_cast<double>(static_cast<float>(value)));
    };
    const auto* from = static_cast<const T*>(values.values);
    for (int64_t i = 0; i < values.samples; ++i) {
      std::vector<std::string> words;
      if (info.sparse) {
        for (int64_t at = values.row_starts[i]; at < values.row_starts[i + 1]; ++at)
          words.push_back(fmt::format("{}:{}", values.columns[at], print(from[at])));
      } else {
        for (size_t at = 0; at < per_sample; ++at)
          words.push_back(print(from[static_cast<size_t>(i) * per_sample + at]));
      }
      samples.push_back(fmt::format("{}", fmt::join(words, " ")));
    }
  });
  return fmt::format("{}", fmt::join(samples, " | "));
}

/// All sequences of a stream as text, "dropped" for those that are bad.
inline std::vector<std::string> read_stream(const Deserializer& data, size_t stream) {
  std::vector<std::string> all;
  int64_t number = 0;
  for (int64_t c = 0; data.has_chunk(c); ++c) {
    const auto chunk = data.load(c);
    for (int64_t i = 0; i < data.chunk(c).sequences; ++i, ++number) {
      if (chunk->length(i) == Chunk::kDropped) {
        all.push_back("dropped");
        continue;
      }
      const StreamValues values = chunk->read(i, stream, {number, 0, 0});
      all.push_back(values.samples < 0 ? "dropped" : text_of(data.streams()[stream], values));
    }
  }
  return all;
}

}  // namespace thalweg::data
