#include <thalweg/base/text.h>
#include <thalweg/model/safetensors.h>

#include "base/fail.h"
#include "model/safetensors_header.h"

namespace thalweg::model {

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path), file_(path) {
  SafetensorsHeader header = parse_safetensors(file_.bytes(), path);
  entries_ = std::move(header.entries);
  metadata_ = std::move(header.metadata);
}

const TensorEntry* SafetensorsFile::find(std::string_view name) const {
  for (const TensorEntry& entry : entries_) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

Tensor SafetensorsFile::read(const TensorEntry& entry) const {
  return read_entry(file_.bytes(), entry, path_);
}

Tensor SafetensorsFile::read(std::string_view name) const {
  if (const TensorEntry* entry = find(name)) return read(*entry);
  std::vector<std::string_view> names;
  for (const TensorEntry& entry : entries_) names.push_back(entry.name);
  fail_io("safetensors: there is no tensor '{}' in {}{}", name, path_, did_you_mean(name, names));
}

NamedTensors SafetensorsFile::read_all() const {
  NamedTensors tensors;
  for (const TensorEntry& entry : entries_) tensors.emplace(entry.name, read(entry));
  return tensors;
}

}  // namespace thalweg::model
