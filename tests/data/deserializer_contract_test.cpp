// What a source relies on, for every format that can be written: a table that is written and read
// back, whole and in parts.

#include <functional>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/data/format.h>
#include <thalweg/data/minibatch_source.h>

#include "base/temp_dir.h"

namespace thalweg::data {
namespace {

constexpr int64_t kSequences = 41;

struct Table {
  bool has_one_sample;  // per sequence: the format has no longer ones
  int64_t length(int64_t sequence) const { return has_one_sample ? 1 : 1 + sequence * 5 % 3; }
  float value(int64_t sequence, int64_t sample, int64_t column) const {
    return static_cast<float>(sequence) + 0.25f * static_cast<float>(column) +
           100.f * static_cast<float>(sample);
  }
};

/// False if the format cannot hold such sequences.
bool write_table(const Format& format, const std::string& path, const Table& table) {
  WriteOptions options;
  options.streams = {{"x", DType::f32, {2}}};
  if (format.holds_keys && !table.has_one_sample) options.key_kind = KeyKind::number;
  try {
    const auto writer = format.create(path, options);
    for (int64_t i = 0; i < kSequences; ++i) {
      std::vector<float> values;
      for (int64_t s = 0; s < table.length(i); ++s)
        for (int64_t c = 0; c < 2; ++c) values.push_back(table.value(i, s, c));
      const StreamValues stream{.samples = table.length(i), .values = values.data()};
      writer->write(static_cast<uint64_t>(i), {&stream, 1});
    }
    writer->commit();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid) << error.what();
    return false;
  }
  return true;
}

void expect_table(const Deserializer& deserializer, const Table& table,
                  const std::function<bool(int64_t)>& wants) {
  int64_t number = 0;
  for (int64_t c = 0; deserializer.has_chunk(c); ++c) {
    const ChunkInfo info = deserializer.chunk(c);
    Deserializer::Wanted wanted;
    for (int64_t i = 0; i < info.sequences; ++i) wanted.push_back(wants(number + i));
    const std::shared_ptr<const Chunk> chunk = deserializer.load(c, wanted);
    for (int64_t i = 0; i < info.sequences; ++i, ++number) {
      EXPECT_EQ(chunk->length(i), table.length(number)) << "sequence " << number;
      EXPECT_FALSE(chunk->where(i).empty());
      if (!wants(number)) continue;
      const StreamValues values = chunk->read(i, 0, {});
      ASSERT_EQ(values.samples, table.length(number));
      for (int64_t s = 0; s < values.samples; ++s)
        for (int64_t k = 0; k < 2; ++k)
          EXPECT_EQ(static_cast<const float*>(values.values)[s * 2 + k], table.value(number, s, k));
    }
  }
  EXPECT_EQ(number, kSequences);
}

TEST(DeserializerContract, WhatIsWrittenIsReadBackWholeAndInParts) {
  int written = 0;
  for (const Format& format : formats()) {
    if (!format.create) continue;
    for (bool has_one_sample : {true, false}) {
      SCOPED_TRACE(format.name);
      const TempDir folder;
      const std::string path = folder.path() + "/table" + format.extensions[0];
      const Table table{has_one_sample};
      if (!write_table(format, path, table)) continue;
      FormatOptions options;
      if (format.needs_streams) options.streams = {{"x", "x", false, {2}}};
      std::shared_ptr<Deserializer> deserializer;
      try {
        deserializer = open_corpus(format, path, options);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
        continue;
      }
      if (deserializer->streams().size() != 1 || deserializer->streams()[0].dtype != DType::f32)
        continue;  // pictures and the like
      ++written;
      deserializer->limit_chunks(400);
      expect_table(*deserializer, table, [](int64_t) { return true; });
      expect_table(*deserializer, table, [](int64_t i) { return i % 3 == 1; });
      expect_table(*deserializer, table, [](int64_t) { return false; });
      // And by a source, shared by ranks.
      int64_t samples = 0;
      const std::string name = deserializer->streams()[0].name;
      for (int64_t rank = 0; rank < 3; ++rank) {
        MinibatchSource source(
            {deserializer},
            {.memory_limit = size_t{64} << 10, .seed = 2, .rank = rank, .world_size = 3});
        while (auto mb = source.next_minibatch(7)) samples += mb[name].shape()[0];
      }
      int64_t all = 0;
      for (int64_t i = 0; i < kSequences; ++i) all += table.length(i);
      EXPECT_EQ(samples, all);
    }
  }
  EXPECT_GE(written, 3);
}

}  // namespace
}  // namespace thalweg::data
