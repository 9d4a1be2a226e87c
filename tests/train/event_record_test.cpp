#include "train/event_record.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thalweg::train {
namespace {

using namespace std::string_literals;

// What Python's protobuf gives for event_pb2.Event(wall_time=1.5, file_version="brain.Event:2"),
// and its masked_crc32c() for the frames; TensorBoard 2.21.0.
TEST(EventRecord, EqualsWhatTensorBoardsOwnMessagesGive) {
  EXPECT_EQ(version_event(1.5), "\x09\0\0\0\0\0\0\xf8\x3f\x1a\x0d"s + "brain.Event:2");
  EXPECT_EQ(
      scalars_event(1.5, 300, "train", {{"loss", 0.5}}),
      "\x09\0\0\0\0\0\0\xf8\x3f\x10\xac\x02\x2a\x13\x0a\x11\x0a\x0atrain/loss\x15\0\0\0\x3f"s);
  EXPECT_EQ(restart_event(1.5, 7), "\x09\0\0\0\0\0\0\xf8\x3f\x10\x07\x3a\x02\x08\x01"s);
}

TEST(EventRecord, FramesWithMaskedChecksums) {
  EXPECT_EQ(frame_record("123456789"),
            "\x09\0\0\0\0\0\0\0\x37\xf9\x71\x39"s + "123456789" + "\xe5\xb0\x8a\xc7"s);
}

TEST(EventRecord, GivesBackWhatItFramed) {
  const std::string bytes = frame_record("one") + frame_record("") + frame_record("three");
  std::string_view left = bytes;
  EXPECT_EQ(next_record(left), "one");
  EXPECT_EQ(next_record(left), "");
  EXPECT_EQ(next_record(left), "three");
  EXPECT_EQ(next_record(left), std::nullopt);
}

TEST(EventRecord, StopsAtEachFlippedBitAndEachTornEnd) {
  const std::string bytes = frame_record("message");
  for (size_t i = 0; i < 8 * bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ 1 << i % 8);
    std::string_view left = damaged;
    EXPECT_EQ(next_record(left), std::nullopt) << "bit " << i;
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::string_view left = std::string_view(bytes).substr(0, size);
    EXPECT_EQ(next_record(left), std::nullopt) << size << " bytes";
  }
}

TEST(EventRecord, FindsTheStep) {
  EXPECT_EQ(step_of_event(scalars_event(1, 1LL << 40, "train", {{"loss", 1}})), 1LL << 40);
  EXPECT_EQ(step_of_event(text_event(1, 3, "config", "text")), 3);
  EXPECT_EQ(step_of_event(version_event(1)), 0);
  EXPECT_EQ(step_of_event("\x2a\x7f"), std::nullopt);
  EXPECT_EQ(step_of_event("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), std::nullopt);
}

}  // namespace
}  // namespace thalweg::train
