#include <thalweg/base/text.h>
#include <thalweg/data/minibatch.h>

#include "base/fail.h"

namespace thalweg::data {

size_t Minibatch::number_of(std::string_view name) const {
  if (!streams_) fail_invalid("minibatch: there is none after the last one");
  std::vector<std::string_view> names;
  for (const StreamInfo& stream : *streams_) {
    if (stream.name == name) return names.size();
    names.push_back(stream.name);
  }
  fail_invalid("minibatch: there is no stream '{}'; there are '{}'{}", name,
               fmt::join(names, "', '"), did_you_mean(name, names));
}

const Tensor& Minibatch::operator[](std::string_view name) const {
  StreamBatch& batch = batches_[number_of(name)];
  if (!batch.dense.defined()) batch.dense = batch.csr.to_dense();
  return batch.dense;
}

const CsrTensor& Minibatch::csr(std::string_view name) const {
  const CsrTensor& csr = batches_[number_of(name)].csr;
  if (!csr.values.defined()) fail_invalid("minibatch: stream '{}' is not sparse", name);
  return csr;
}

const Tensor& Minibatch::lengths(std::string_view name) const {
  return batches_[number_of(name)].lengths;
}

const Tensor& Minibatch::mask(std::string_view name) const {
  const Tensor& mask = batches_[number_of(name)].mask;
  if (!mask.defined())
    fail_invalid("minibatch: stream '{}' has no mask; its samples lie one after the other", name);
  return mask;
}

const std::vector<StreamInfo>& Minibatch::streams() const {
  static const std::vector<StreamInfo> none;
  return streams_ ? *streams_ : none;
}

}  // namespace thalweg::data
