#pragma once

#include <optional>

#include <thalweg/data/dataset.h>

#include "data/convert.h"

namespace thalweg::data {

/// Samples that are rows of tensors in memory.
class ArraySource final : public SampleSource {
 public:
  ArraySource(std::string name, const std::vector<NamedTensor>& tensors,
              std::vector<std::string> class_names);

  std::string name() const override { return name_; }
  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  std::vector<Tensor> gather(const Request& request) const override;
  std::shared_ptr<const SampleSource> converted(size_t field,
                                                const Conversion& conversion) const override;

 private:
  struct Column {
    Tensor rows;
    size_t row_bytes;
    std::optional<SampleConverter> converter;
  };

  std::string name_;
  std::vector<std::string> class_names_;
  int64_t size_ = 0;
  std::vector<Field> fields_;  // as gather gives them
  std::vector<Column> columns_;
};

}  // namespace thalweg::data
