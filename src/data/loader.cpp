#include <thalweg/data/loader.h>

#include "base/fail.h"
#include "data/loader_impl.h"

namespace thalweg::data {

DataLoader::DataLoader(Dataset dataset, DataLoaderOptions options)
    : impl_(make_set_loader(std::move(dataset), options)) {}

DataLoader::DataLoader(MinibatchSource source, SourceLoaderOptions options)
    : impl_(make_source_loader(std::move(source), std::move(options))) {}

DataLoader::Iterator DataLoader::begin() { return Iterator(impl_, impl_->begin()); }

int64_t DataLoader::size() const { return impl_->size(); }

int64_t DataLoader::epoch() const { return impl_->state().epoch; }

void DataLoader::set_epoch(int64_t epoch) { impl_->set_epoch(epoch); }

LoaderState DataLoader::state() const { return impl_->state(); }

void DataLoader::restore(const LoaderState& state) { impl_->restore(state); }

const Dataset& DataLoader::dataset() const {
  if (!impl_->dataset())
    fail_invalid("loader: {} is read by a minibatch source; it is no data set", name());
  return *impl_->dataset();
}

std::optional<SourceStatistics> DataLoader::statistics() const { return impl_->statistics(); }

std::string DataLoader::name() const { return impl_->name(); }

const std::vector<std::string>& DataLoader::class_names() const { return impl_->class_names(); }

const DataLoaderOptions& DataLoader::options() const { return impl_->options(); }

DataLoader::Iterator::Iterator(std::shared_ptr<LoaderImpl> impl, uint64_t pass)
    : impl_(std::move(impl)), pass_(pass) {}

DataLoader::Iterator::Iterator(Iterator&& other) noexcept = default;

DataLoader::Iterator& DataLoader::Iterator::operator=(Iterator&& other) noexcept {
  std::swap(impl_, other.impl_);
  std::swap(pass_, other.pass_);
  return *this;
}

DataLoader::Iterator::~Iterator() {
  if (impl_) impl_->leave(pass_);
}

bool DataLoader::Iterator::is_at_end() const { return !impl_ || !impl_->is_current(pass_); }

Batch& DataLoader::Iterator::operator*() const {
  if (is_at_end()) fail_invalid("loader: there is no batch: the pass is over");
  return impl_->batch();
}

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  if (!is_at_end()) impl_->advance();
  return *this;
}

}  // namespace thalweg::data
