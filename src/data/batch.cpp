#include <thalweg/base/text.h>
#include <thalweg/data/batch.h>

#include "base/fail.h"

namespace thalweg::data {

const std::vector<std::string>& SampleSource::class_names() const {
  static const std::vector<std::string> none;
  return none;
}

std::shared_ptr<const SampleSource> SampleSource::converted(size_t, const Conversion&) const {
  return nullptr;
}

Batch::Batch(const std::shared_ptr<const SampleSource>& source, std::vector<Tensor> columns,
             std::vector<SampleKey> samples)
    : Batch(std::shared_ptr<const std::vector<Field>>(source, &source->fields()),
            std::move(columns), std::move(samples)) {}

Batch::Batch(std::shared_ptr<const std::vector<Field>> fields, std::vector<Tensor> columns,
             std::vector<SampleKey> samples)
    : size(static_cast<int64_t>(samples.size())),
      fields_(std::move(fields)),
      samples_(std::move(samples)) {
  if (columns.size() > 0) data = std::move(columns[0]);
  if (columns.size() > 1) label = std::move(columns[1]);
  for (size_t i = 2; i < columns.size(); ++i) rest_.push_back(std::move(columns[i]));
}

const std::vector<Field>& Batch::fields() const {
  static const std::vector<Field> none;
  return fields_ ? *fields_ : none;
}

const Tensor& Batch::operator[](size_t field) const {
  if (field >= fields().size())
    fail_invalid("batch: there is no field {}; there are {}", field, fields().size());
  if (field == 0) return data;
  return field == 1 ? label : rest_[field - 2];
}

const Tensor& Batch::operator[](std::string_view name) const {
  return (*this)[field_number("batch", fields(), name)];
}

size_t field_number(const char* operation, const std::vector<Field>& fields,
                    std::string_view name) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return i;
    names.push_back(fields[i].name);
  }
  fail_invalid("{}: there is no field '{}'; there are '{}'{}", operation, name,
               fmt::join(names, "', '"), did_you_mean(name, names));
}

}  // namespace thalweg::data
