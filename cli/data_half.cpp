#include "cli/data_half.h"

#include "base/fail.h"
#include "cli/class_numbers.h"

namespace thalweg::cli {
namespace {

data::SweepEnd sweep_end(data::LastBatch last) {
  switch (last) {
    case data::LastBatch::keep:
      return data::SweepEnd::join;
    case data::LastBatch::discard:
      return data::SweepEnd::drop;
    case data::LastBatch::rollover:
      break;
  }
  return data::SweepEnd::cross;
}

}  // namespace

std::string DataHalf::name() const { return set_ ? set_->name() : corpus_->name; }

int64_t DataHalf::samples() const {
  return set_ ? set_->size() : source({.workers = 0}).num_samples();
}

std::vector<std::string> DataHalf::class_names() const {
  if (set_) return set_->class_names();
  return loader({}).class_names();
}

const data::StreamInfo& DataHalf::stream() const {
  for (const data::StreamInfo& stream : corpus_->streams)
    if (stream.name == corpus_->data) return stream;
  return corpus_->streams.front();
}

data::Field DataHalf::field() const {
  if (set_) return set_->fields().front();
  return {stream().name, stream().dtype, stream().shape};
}

Tensor DataHalf::example() const {
  if (set_) return set_->gather({0}).data;
  data::MinibatchSource first =
      source({.randomize = false, .size_unit = data::SizeUnit::sequences, .workers = 0});
  return first.next_minibatch(1)[stream().name];
}

// Null if there is none.
const data::StreamInfo* DataHalf::label_stream() const {
  for (const data::StreamInfo& other : corpus_->streams) {
    const bool is_label = corpus_->label.empty() || other.name == corpus_->label;
    if (is_label && other.name != stream().name) return &other;
  }
  return nullptr;
}

DataHalf DataHalf::with_class_labels() const {
  DataHalf result = *this;
  if (!corpus_) return result;
  const data::StreamInfo* label = label_stream();
  if (label && !label->sparse && label->shape.empty() && is_floating(label->dtype))
    result.label_steps_ = {class_numbers()};
  return result;
}

DataHalf DataHalf::transformed(std::vector<data::Transform> steps) const {
  DataHalf result = *this;
  if (steps.empty()) return result;
  if (set_) {
    result.set_ = set_->transform(std::move(steps));
  } else {
    result.steps_.insert(result.steps_.end(), steps.begin(), steps.end());
  }
  return result;
}

DataHalf DataHalf::for_net(const nn::Module& net) const {
  DataHalf result = *this;
  if (result.corpus_) result.corpus_->keep_sparse = net.takes_sparse();
  return result;
}

data::MinibatchSource DataHalf::source(data::MinibatchSourceOptions options) const {
  options.memory_limit = corpus_->memory_limit;
  if (corpus_->padded) {
    options.packing = data::Packing::padded;
    options.size_unit = data::SizeUnit::sequences;
  }
  if (!steps_.empty()) options.transforms.push_back({{stream().name}, steps_});
  if (!label_steps_.empty()) options.transforms.push_back({{label_stream()->name}, label_steps_});
  return data::MinibatchSource({corpus_->open()}, std::move(options));
}

data::DataLoader DataHalf::loader(const data::DataLoaderOptions& options) const {
  if (set_) return data::DataLoader(*set_, options);
  std::vector<double> weights;
  if (corpus_->balance && options.shuffle) {
    const data::StreamInfo* label = label_stream();
    if (!label) fail_invalid("data: {} has no stream of labels to balance by", corpus_->name);
    weights = data::balanced_weights(data::read_classes(*corpus_->open(), label->name));
  }
  return data::DataLoader(source({.randomize = options.shuffle,
                                  .seed = options.seed,
                                  .max_sweeps = 0,
                                  .sweep_end = sweep_end(options.last_batch),
                                  .workers = options.workers,
                                  .weights = std::move(weights)}),
                          {.batch_size = options.batch_size,
                           .data = corpus_->data,
                           .label = corpus_->label,
                           .keep_sparse = corpus_->keep_sparse});
}

}  // namespace thalweg::cli
