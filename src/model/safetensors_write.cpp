#include <bit>

#include <nlohmann/json.hpp>

#include <thalweg/base/writer.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/model/safetensors.h>

#include "base/fail.h"
#include "model/safetensors_header.h"

namespace thalweg::model {
namespace {

static_assert(std::endian::native == std::endian::little);

struct Item {
  const std::string* name;
  const char* dtype;
  const Tensor* tensor;
};

uint64_t bytes_of(const Tensor& tensor) {
  return static_cast<uint64_t>(tensor.size()) * item_size(tensor.dtype());
}

std::string quoted(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    fail_invalid("save_safetensors: a name or metadata text of {} bytes is not UTF-8", text.size());
  }
}

// By dtype, large items first, then by name: every tensor then begins at a multiple of its item.
std::vector<Item> in_file_order(const NamedTensors& tensors) {
  std::vector<Item> items;
  for (const DTypeName& dtype : kDTypeNames) {
    for (const auto& [name, tensor] : tensors) {
      if (name.empty() || name == kMetadataKey) {
        fail_invalid("save_safetensors: '{}' cannot be the name of a tensor", name);
      }
      if (!tensor.defined()) fail_invalid("save_safetensors: '{}' is an undefined tensor", name);
      if (tensor.dtype() == dtype.dtype) items.push_back({&name, dtype.text, &tensor});
    }
  }
  return items;
}

std::string metadata_json(const Metadata& metadata) {
  std::vector<std::string> lines;
  for (const auto& [key, value] : metadata) {
    lines.push_back(fmt::format("{}:{}", quoted(key), quoted(value)));
  }
  return fmt::format("\"{}\":{{{}}}", kMetadataKey, fmt::join(lines, ","));
}

std::string header_json(const std::vector<Item>& items, const Metadata& metadata) {
  std::vector<std::string> fields;
  if (!metadata.empty()) fields.push_back(metadata_json(metadata));
  uint64_t offset = 0;
  for (const Item& item : items) {
    const uint64_t end = offset + bytes_of(*item.tensor);
    fields.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                 quoted(*item.name), item.dtype,
                                 fmt::join(item.tensor->shape(), ","), offset, end));
    offset = end;
  }
  std::string text = fmt::format("{{{}}}", fmt::join(fields, ","));
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxHeaderBytes) {
    fail_invalid("save_safetensors: names and metadata take {} bytes, more than {}", text.size(),
                 kMaxHeaderBytes);
  }
  return text;
}

}  // namespace

void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const Metadata& metadata) {
  const std::vector<Item> items = in_file_order(tensors);
  const std::string header = header_json(items, metadata);
  const Pause pause;
  AtomicFile file(path);
  file.write_le(static_cast<uint64_t>(header.size()));
  file.write(header);
  for (const Item& item : items) {
    const Tensor host = item.tensor->to(Device::cpu()).contiguous();
    file.write(Bytes(static_cast<const std::byte*>(host.impl()->data), bytes_of(host)));
  }
  file.commit();
}

}  // namespace thalweg::model
