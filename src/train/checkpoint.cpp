#include <bit>
#include <charconv>
#include <filesystem>

#include <thalweg/base/checksum.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/model/safetensors.h>
#include <thalweg/train/checkpoint.h>

#include "base/fail.h"

namespace thalweg::train {
namespace {

// Keys of the file's metadata. Parts that are no tensors are under their names, a letter for the
// kind before the value; every tensor has its checksum, and so has the metadata as a whole.
constexpr const char* kFormatKey = "thalweg.format";
constexpr const char* kFormat = "checkpoint 1";
constexpr const char* kOwnSum = "thalweg.crc32";
constexpr const char* kSumPrefix = "thalweg.crc32/";
constexpr const char* kPartPrefix = "part/";

uint32_t sum_text(std::string_view text, uint32_t sum) { return crc32(as_bytes(text), sum); }

// Dtype and shape are part of it, so that no element is read as another kind of number.
std::string sum_of(const Tensor& t) {
  uint32_t sum = sum_text(fmt::format("{} {}", name(t.dtype()), to_string(t.shape())), 0);
  const size_t bytes = static_cast<size_t>(t.size()) * item_size(t.dtype());
  sum = crc32(Bytes(static_cast<const std::byte*>(t.impl()->data), bytes), sum);
  return fmt::format("{:08x}", sum);
}

std::string sum_of(const model::Metadata& metadata) {
  uint32_t sum = 0;
  for (const auto& [key, value] : metadata) {
    if (key != kOwnSum) sum = sum_text(fmt::format("{}={}\n", key, value), sum);
  }
  return fmt::format("{:08x}", sum);
}

Tensor on_host(const Tensor& t) {
  const Pause pause;
  return t.to(Device::cpu()).contiguous();
}

template <typename T>
T parse_number(std::string_view text, int base, const std::string& path, std::string_view part) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size())
    fail_io("checkpoint: {} in {} is '{}'; expected a number", part, path, text);
  return value;
}

// The value of a part of this kind.
std::string_view value_of_kind(const std::map<std::string, std::string, std::less<>>& texts,
                               std::string_view part, char kind, const std::string& path) {
  const auto found = texts.find(part);
  if (found == texts.end()) fail_io("checkpoint: {} is missing in {}", part, path);
  if (found->second.empty() || found->second[0] != kind)
    fail_io("checkpoint: {} in {} is of another kind, '{}'", part, path, found->second);
  return std::string_view(found->second).substr(1);
}

}  // namespace

void Checkpoint::put(std::string name, const Tensor& tensor) {
  if (!tensor.defined()) fail_invalid("checkpoint: {} is an undefined tensor", name);
  tensors_.insert_or_assign(std::move(name), tensor);
}
void Checkpoint::put(std::string name, std::string_view text) {
  texts_.insert_or_assign(std::move(name), fmt::format("t{}", text));
}
void Checkpoint::put(std::string name, int64_t value) {
  texts_.insert_or_assign(std::move(name), fmt::format("i{}", value));
}
void Checkpoint::put(std::string name, uint64_t value) {
  texts_.insert_or_assign(std::move(name), fmt::format("u{}", value));
}
void Checkpoint::put(std::string name, double value) {
  texts_.insert_or_assign(std::move(name), fmt::format("f{:016x}", std::bit_cast<uint64_t>(value)));
}

const Tensor& Checkpoint::tensor(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) fail_io("checkpoint: tensor {} is missing in {}", name, path_);
  return found->second;
}
std::string_view Checkpoint::text(std::string_view name) const {
  return value_of_kind(texts_, name, 't', path_);
}
int64_t Checkpoint::integer(std::string_view name) const {
  return parse_number<int64_t>(value_of_kind(texts_, name, 'i', path_), 10, path_, name);
}
uint64_t Checkpoint::bits(std::string_view name) const {
  return parse_number<uint64_t>(value_of_kind(texts_, name, 'u', path_), 10, path_, name);
}
double Checkpoint::number(std::string_view name) const {
  return std::bit_cast<double>(
      parse_number<uint64_t>(value_of_kind(texts_, name, 'f', path_), 16, path_, name));
}

bool Checkpoint::has(std::string_view name) const {
  return tensors_.contains(name) || texts_.contains(name);
}

std::vector<std::string> Checkpoint::tensors_in(std::string_view prefix) const {
  std::vector<std::string> names;
  for (auto it = tensors_.lower_bound(prefix);
       it != tensors_.end() && it->first.starts_with(prefix); ++it)
    names.push_back(it->first);
  return names;
}

void Checkpoint::write(const std::string& path) const {
  model::NamedTensors tensors;
  model::Metadata metadata{{kFormatKey, kFormat}};
  for (const auto& [name, tensor] : tensors_) {
    const Tensor host = on_host(tensor);
    metadata[kSumPrefix + name] = sum_of(host);
    tensors.emplace(name, host);
  }
  for (const auto& [name, value] : texts_) metadata[kPartPrefix + name] = value;
  metadata[kOwnSum] = sum_of(metadata);
  model::save_safetensors(path, tensors, metadata);
}

bool is_checkpoint(const std::string& path) {
  return model::SafetensorsFile(path).metadata().contains(kFormatKey);
}

Checkpoint Checkpoint::read(const std::string& path) {
  const model::SafetensorsFile file(path);
  const model::Metadata& metadata = file.metadata();
  const auto format = metadata.find(kFormatKey);
  if (format == metadata.end() || format->second != kFormat)
    fail_io("checkpoint: {} is no checkpoint; its {} is '{}', expected '{}'", path, kFormatKey,
            format == metadata.end() ? "" : format->second, kFormat);
  const auto own_sum = metadata.find(kOwnSum);
  if (own_sum == metadata.end() || own_sum->second != sum_of(metadata))
    fail_io("checkpoint: the numbers and texts in {} are damaged; their checksum is wrong", path);
  Checkpoint checkpoint;
  checkpoint.path_ = path;
  for (const auto& [key, value] : metadata) {
    if (key.starts_with(kPartPrefix)) {
      checkpoint.texts_.emplace(key.substr(std::string_view(kPartPrefix).size()), value);
    } else if (key.starts_with(kSumPrefix)) {
      const std::string name = key.substr(std::string_view(kSumPrefix).size());
      const model::TensorEntry* entry = file.find(name);
      if (!entry) fail_io("checkpoint: tensor {} is missing in {}", name, path);
      const Tensor tensor = file.read(*entry);
      if (sum_of(tensor) != value)
        fail_io("checkpoint: tensor {} in {} is damaged; its checksum is wrong", name, path);
      checkpoint.tensors_.emplace(name, tensor);
    }
  }
  for (const model::TensorEntry& entry : file.entries()) {
    if (!checkpoint.tensors_.contains(entry.name))
      fail_io("checkpoint: tensor {} in {} has no checksum", entry.name, path);
  }
  return checkpoint;
}

}  // namespace thalweg::train
