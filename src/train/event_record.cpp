#include "train/event_record.h"

#include <bit>

#include <thalweg/base/bytes.h>
#include <thalweg/base/checksum.h>

namespace thalweg::train {
namespace {

enum class Wire : uint32_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// Field numbers of event.proto, summary.proto, tensor.proto and tensor_shape.proto.
namespace field {
constexpr uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
constexpr uint32_t kSessionStatus = 1;
constexpr uint32_t kSummaryValue = 1;
constexpr uint32_t kTag = 1, kSimpleValue = 2, kTensor = 8, kMetadata = 9;
constexpr uint32_t kPluginData = 1, kDataClass = 4, kPluginName = 1;
constexpr uint32_t kDType = 1, kTensorShape = 2, kStringVal = 8;
constexpr uint32_t kDim = 2, kDimSize = 1;
}  // namespace field

constexpr uint64_t kSessionStart = 1;     // SessionLog.START
constexpr uint64_t kStringType = 7;       // DT_STRING
constexpr uint64_t kDataClassTensor = 2;  // DATA_CLASS_TENSOR

template <typename T>
std::string little_endian(T value) {
  std::string bytes(sizeof(T), '\0');
  store_le(value, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

// A protobuf message that is being written.
class Message {
 public:
  Message& varint(uint32_t number, uint64_t value) {
    key(number, Wire::varint);
    append_varint(value);
    return *this;
  }

  Message& f32(uint32_t number, float value) {
    key(number, Wire::fixed32);
    text_ += little_endian(value);
    return *this;
  }

  Message& f64(uint32_t number, double value) {
    key(number, Wire::fixed64);
    text_ += little_endian(value);
    return *this;
  }

  Message& bytes(uint32_t number, std::string_view value) {
    key(number, Wire::bytes);
    append_varint(value.size());
    text_.append(value);
    return *this;
  }

  Message& message(uint32_t number, const Message& value) { return bytes(number, value.text_); }

  std::string take() { return std::move(text_); }

 private:
  void key(uint32_t number, Wire wire) { append_varint(number << 3 | static_cast<uint32_t>(wire)); }

  void append_varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }

  std::string text_;
};

Message event(double wall_time, int64_t step) {
  Message message;
  message.f64(field::kWallTime, wall_time).varint(field::kStep, static_cast<uint64_t>(step));
  return message;
}

uint32_t masked_crc(std::string_view bytes) {
  return std::rotr(crc32c(as_bytes(bytes)), 15) + 0xa282ead8U;
}

std::optional<uint64_t> take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes[0]);
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// Passes over a field's value of which only the wire type is known.
bool skip_field(std::string_view& bytes, uint64_t wire) {
  uint64_t size = 0;
  if (wire == 0) return take_varint(bytes).has_value();
  if (wire == 1) {
    size = 8;
  } else if (wire == 5) {
    size = 4;
  } else if (wire == 2) {
    const std::optional<uint64_t> length = take_varint(bytes);
    if (!length) return false;
    size = *length;
  } else {
    return false;
  }
  if (size > bytes.size()) return false;
  bytes.remove_prefix(size);
  return true;
}

}  // namespace

std::string version_event(double wall_time) {
  Message message;
  message.f64(field::kWallTime, wall_time).bytes(field::kFileVersion, "brain.Event:2");
  return message.take();
}

std::string restart_event(double wall_time, int64_t step) {
  Message log;
  log.varint(field::kSessionStatus, kSessionStart);
  return event(wall_time, step).message(field::kSessionLog, log).take();
}

std::string scalars_event(double wall_time, int64_t step, std::string_view group,
                          const Figures& figures) {
  Message summary;
  for (const Figure& figure : figures) {
    Message value;
    value.bytes(field::kTag, std::string(group) + '/' + figure.name)
        .f32(field::kSimpleValue, static_cast<float>(figure.value));
    summary.message(field::kSummaryValue, value);
  }
  return event(wall_time, step).message(field::kSummary, summary).take();
}

std::string text_event(double wall_time, int64_t step, std::string_view tag,
                       std::string_view text) {
  Message plugin, metadata, dim, shape, tensor, value, summary;
  plugin.bytes(field::kPluginName, "text");
  metadata.message(field::kPluginData, plugin).varint(field::kDataClass, kDataClassTensor);
  dim.varint(field::kDimSize, 1);
  shape.message(field::kDim, dim);
  tensor.varint(field::kDType, kStringType)
      .message(field::kTensorShape, shape)
      .bytes(field::kStringVal, text);
  value.bytes(field::kTag, tag).message(field::kMetadata, metadata).message(field::kTensor, tensor);
  summary.message(field::kSummaryValue, value);
  return event(wall_time, step).message(field::kSummary, summary).take();
}

std::string frame_record(std::string_view message) {
  const std::string length = little_endian<uint64_t>(message.size());
  std::string record = length + little_endian(masked_crc(length));
  record.append(message).append(little_endian(masked_crc(message)));
  return record;
}

std::optional<std::string_view> next_record(std::string_view& bytes) {
  if (bytes.size() < 16) return std::nullopt;
  const std::byte* head = as_bytes(bytes).data();
  const auto length = load_le<uint64_t>(head);
  if (load_le<uint32_t>(head + 8) != masked_crc(bytes.substr(0, 8))) return std::nullopt;
  if (length > bytes.size() - 16) return std::nullopt;
  const std::string_view message = bytes.substr(12, length);
  if (load_le<uint32_t>(head + 12 + length) != masked_crc(message)) return std::nullopt;
  bytes.remove_prefix(16 + length);
  return message;
}

std::optional<int64_t> step_of_event(std::string_view message) {
  int64_t step = 0;
  while (!message.empty()) {
    const std::optional<uint64_t> key = take_varint(message);
    if (!key) return std::nullopt;
    if (*key == (field::kStep << 3 | static_cast<uint32_t>(Wire::varint))) {
      const std::optional<uint64_t> value = take_varint(message);
      if (!value) return std::nullopt;
      step = static_cast<int64_t>(*value);
    } else if (!skip_field(message, *key & 7)) {
      return std::nullopt;
    }
  }
  return step;
}

}  // namespace thalweg::train
