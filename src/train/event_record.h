#pragma once

// The bytes of an event file: Event messages in protobuf's encoding
// (tensorflow/core/util/event.proto), each framed as a TFRecord: length u64, CRC of the length u32,
// message, CRC of the message u32, all little-endian, the CRCs CRC-32C "masked" as in
// tensorflow/core/lib/hash/crc32c.h.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <thalweg/train/figures.h>

namespace thalweg::train {

/// The first event of a file. `wall_time` here and below: seconds since 1970.
std::string version_event(double wall_time);

/// A run begins anew at `step`: what was written for it and later steps is void.
std::string restart_event(double wall_time, int64_t step);

std::string scalars_event(double wall_time, int64_t step, std::string_view group,
                          const Figures& figures);
std::string text_event(double wall_time, int64_t step, std::string_view tag, std::string_view text);

/// The message with its frame.
std::string frame_record(std::string_view message);

/// Takes one record off the front of `bytes`: its message, or nothing if the rest is no whole sound
/// record.
std::optional<std::string_view> next_record(std::string_view& bytes);

/// The step of an Event message; 0 if it has none, nothing if it is not a message.
std::optional<int64_t> step_of_event(std::string_view message);

}  // namespace thalweg::train
