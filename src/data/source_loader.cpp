// Passes over a minibatch source, as batches.

#include <algorithm>

#include "base/fail.h"
#include "data/loader_impl.h"

namespace thalweg::data {
namespace {

// Data, label, then the other streams in their order.
std::vector<size_t> field_order(const std::vector<StreamInfo>& streams,
                                const SourceLoaderOptions& options) {
  std::vector<Field> fields;
  for (const StreamInfo& stream : streams)
    fields.push_back({stream.name, stream.dtype, stream.shape});
  std::vector<size_t> order;
  order.push_back(options.data.empty() ? 0 : field_number("loader", fields, options.data));
  for (size_t i = 0; i < streams.size(); ++i) {
    const bool is_label = options.label.empty() || streams[i].name == options.label;
    if (i != order[0] && is_label) {
      order.push_back(i);
      break;
    }
  }
  if (order.size() == 1 && !options.label.empty()) {
    order.push_back(field_number("loader", fields, options.label));
    fail_invalid("loader: stream '{}' is data and label", options.label);
  }
  for (size_t i = 0; i < streams.size(); ++i)
    if (std::ranges::find(order, i) == order.end()) order.push_back(i);
  return order;
}

DataLoaderOptions loader_options(const MinibatchSource& source,
                                 const SourceLoaderOptions& options) {
  const MinibatchSourceOptions& from = source.options();
  DataLoaderOptions result{.batch_size = options.batch_size,
                           .shuffle = from.randomize,
                           .workers = from.workers,
                           .seed = from.seed,
                           .rank = from.rank,
                           .world_size = from.world_size};
  if (from.sweep_end == SweepEnd::drop) result.last_batch = LastBatch::discard;
  if (from.sweep_end == SweepEnd::cross) result.last_batch = LastBatch::rollover;
  return result;
}

class SourceLoader final : public LoaderImpl {
 public:
  SourceLoader(MinibatchSource source, SourceLoaderOptions options)
      : LoaderImpl(loader_options(source, options)), source_(std::move(source)) {
    if (options_.batch_size < 1)
      fail_invalid("loader: batch_size is {}; it must be at least 1", options_.batch_size);
    if (source_.options().max_sweeps != 0 || source_.options().max_samples != 0) {
      fail_invalid(
          "loader: the source has an end of its own; max_sweeps {}, max_samples {}; set both to 0, "
          "and count passes",
          source_.options().max_sweeps, source_.options().max_samples);
    }
    auto fields = std::make_shared<std::vector<Field>>();
    for (size_t i : field_order(source_.streams(), options)) {
      const StreamInfo& stream = source_.streams()[i];
      fields->push_back({stream.name, stream.dtype, stream.shape});
      if (fields->size() == 1) keeps_sparse_ = options.keep_sparse && stream.sparse;
      if (fields->size() == 2) class_names_ = stream.class_names;
    }
    fields_ = std::move(fields);
  }

  std::string name() const override { return source_.name(); }
  const std::vector<std::string>& class_names() const override { return class_names_; }

  std::optional<SourceStatistics> statistics() const override { return source_.statistics(); }

  uint64_t begin() override {
    leave(passes_);
    if (was_left_) source_.start_sweep(sweep_ + 1);
    was_left_ = false;
    is_under_way_ = true;
    is_last_ = false;
    sweep_ = source_.sweep();
    const uint64_t pass = ++passes_;
    advance();
    return pass;
  }

  void advance() override {
    batch_ = Batch();
    if (!is_last_) {
      try {
        const Minibatch minibatch = source_.next_minibatch(options_.batch_size);
        if (minibatch) {
          is_last_ = minibatch.end_of_sweep;
          batch_ = batch_of(minibatch);
          return;
        }
      } catch (...) {
        leave(passes_);
        throw;
      }
    }
    is_under_way_ = false;
  }

  void leave(uint64_t pass) override {
    if (!is_current(pass)) return;
    batch_ = Batch();
    is_under_way_ = false;
    // After the last batch the source is in the next sweep already.
    was_left_ = !is_last_;
    source_.restore(source_.checkpoint());  // ends its threads
  }

  int64_t size() const override {
    const int64_t all = source_.options().size_unit == SizeUnit::samples ? source_.num_samples()
                                                                         : source_.num_sequences();
    const bool drops = source_.options().sweep_end == SweepEnd::drop;
    return (all + (drops ? 0 : options_.batch_size - 1)) / options_.batch_size;
  }

  LoaderState state() const override {
    return {.epoch = is_under_way_ ? sweep_ : source_.sweep(), .source = source_.checkpoint()};
  }

  void restore(const LoaderState& state) override {
    if (state.source.empty())
      fail_invalid("loader: the state is of a data set, and {} is read by a minibatch source",
                   name());
    leave(passes_);
    was_left_ = false;
    source_.restore(state.source);
  }

  void set_epoch(int64_t epoch) override {
    leave(passes_);
    was_left_ = false;
    source_.start_sweep(epoch);
  }

 private:
  Batch batch_of(const Minibatch& minibatch) const {
    std::vector<Tensor> columns;
    for (const Field& field : *fields_)
      columns.push_back(keeps_sparse_ && columns.empty() ? Tensor() : minibatch[field.name]);
    // One key for every row of the data: padded sequences are rows, samples of one are several.
    std::vector<SampleKey> keys;
    const std::vector<int64_t> lengths = minibatch.lengths((*fields_)[0].name).to_vector<int64_t>();
    const bool are_samples = source_.options().packing == Packing::samples;
    for (size_t i = 0; i < minibatch.sequences.size(); ++i) {
      const SampleKey key{minibatch.sequences[i].number, minibatch.sequences[i].sweep};
      keys.insert(keys.end(), are_samples ? static_cast<size_t>(lengths[i]) : 1, key);
    }
    CsrTensor sparse;
    if (keeps_sparse_) sparse = minibatch.csr((*fields_)[0].name);
    if (source_.options().packing == Packing::truncated)
      keys.resize(static_cast<size_t>((keeps_sparse_ ? sparse.shape : columns[0].shape())[0]));
    Batch batch(fields_, std::move(columns), std::move(keys));
    batch.sparse = std::move(sparse);
    return batch;
  }

  MinibatchSource source_;
  std::shared_ptr<const std::vector<Field>> fields_;
  std::vector<std::string> class_names_;
  int64_t sweep_ = 0;          // of the pass
  bool keeps_sparse_ = false;  // the data's stream
  bool is_last_ = false;       // the batch is the pass's last
};

}  // namespace

std::shared_ptr<LoaderImpl> make_source_loader(MinibatchSource source,
                                               SourceLoaderOptions options) {
  return std::make_shared<SourceLoader>(std::move(source), std::move(options));
}

}  // namespace thalweg::data
