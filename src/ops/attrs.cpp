#include <cstring>

#include <thalweg/ops/attrs.h>

#include "base/fail.h"

namespace thalweg {
namespace {

template <typename T>
const T& at(const void* attrs, const AttrField& field) {
  return *reinterpret_cast<const T*>(static_cast<const char*>(attrs) + field.offset);
}

std::string field_text(const void* attrs, const AttrField& field) {
  switch (field.type) {
    case AttrType::boolean:
      return at<bool>(attrs, field) ? "true" : "false";
    case AttrType::i64:
      return fmt::to_string(at<int64_t>(attrs, field));
    case AttrType::u64:
      return fmt::to_string(at<uint64_t>(attrs, field));
    case AttrType::f64:
      return fmt::to_string(at<double>(attrs, field));
    case AttrType::dims:
      return to_string(at<Dims>(attrs, field));
    case AttrType::dtype:
      return name(at<DType>(attrs, field));
    case AttrType::enumeration:
      return field.choices[at<uint8_t>(attrs, field)];
  }
  return {};
}

size_t field_bytes(AttrType type) {
  switch (type) {
    case AttrType::boolean:
    case AttrType::dtype:
    case AttrType::enumeration:
      return 1;
    case AttrType::i64:
    case AttrType::u64:
    case AttrType::f64:
      return 8;
    case AttrType::dims:
      break;
  }
  return sizeof(Dims);
}

uint64_t mix(uint64_t hash, const void* bytes, size_t count) {
  const auto* p = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i < count; ++i) hash = (hash ^ p[i]) * 0x100000001b3u;  // FNV-1a
  return hash;
}

}  // namespace

std::string to_string(const AttrInfo& info, const void* attrs) {
  std::string text;
  for (const AttrField& field : info.fields) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}={}", field.name, field_text(attrs, field));
  }
  return text;
}

bool equal(const AttrInfo& info, const void* a, const void* b) {
  for (const AttrField& field : info.fields) {
    const bool same =
        field.type == AttrType::dims
            ? at<Dims>(a, field) == at<Dims>(b, field)
            : !std::memcmp(&at<char>(a, field), &at<char>(b, field), field_bytes(field.type));
    if (!same) return false;
  }
  return true;
}

uint64_t hash(const AttrInfo& info, const void* attrs) {
  uint64_t result = 0xcbf29ce484222325u;
  for (const AttrField& field : info.fields) {
    if (field.type == AttrType::dims) {
      const Dims& dims = at<Dims>(attrs, field);
      const uint64_t count = dims.size();
      result = mix(result, &count, sizeof count);
      result = mix(result, dims.data(), dims.size() * sizeof(int64_t));
    } else {
      result = mix(result, &at<char>(attrs, field), field_bytes(field.type));
    }
  }
  return result;
}

}  // namespace thalweg
