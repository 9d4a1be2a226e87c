#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <thalweg/data/sample_source.h>
#include <thalweg/tensor/csr.h>

namespace thalweg::data {

/// Samples side by side: one tensor per field of the data set, the first axis being the samples.
/// The tensors are the caller's to keep, change or replace.
class THALWEG_API Batch {
 public:
  Batch() = default;
  Batch(const std::shared_ptr<const SampleSource>& source, std::vector<Tensor> columns,
        std::vector<SampleKey> samples);
  Batch(std::shared_ptr<const std::vector<Field>> fields, std::vector<Tensor> columns,
        std::vector<SampleKey> samples);

  Tensor data;       // the first field, [size, ...]; undefined if `sparse` has it
  CsrTensor sparse;  // the first field as a sparse matrix, where a loader was asked for it
  Tensor label;      // the second field; undefined if there is none
  int64_t size = 0;  // samples

  /// A field by its number or name. Throws Error{invalid}, with the names, for another.
  const Tensor& operator[](size_t field) const;
  const Tensor& operator[](std::string_view name) const;

  /// Names, dtypes and sample shapes of the fields.
  const std::vector<Field>& fields() const;

  /// Which samples of the data set these are.
  const std::vector<SampleKey>& samples() const { return samples_; }

 private:
  std::shared_ptr<const std::vector<Field>> fields_;
  std::vector<Tensor> rest_;  // fields after the second
  std::vector<SampleKey> samples_;
};

/// The number of the field called `name`. Throws Error{invalid}, with the names there are, naming
/// `operation`.
THALWEG_API size_t field_number(const char* operation, const std::vector<Field>& fields,
                                std::string_view name);

}  // namespace thalweg::data
