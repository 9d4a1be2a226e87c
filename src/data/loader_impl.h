#pragma once

#include <thalweg/data/loader.h>

namespace thalweg::data {

/// What a DataLoader does: passes, one at a time, each with a number.
class LoaderImpl {
 public:
  explicit LoaderImpl(DataLoaderOptions options) : options_(std::move(options)) {}
  virtual ~LoaderImpl() = default;
  LoaderImpl(const LoaderImpl&) = delete;
  LoaderImpl& operator=(const LoaderImpl&) = delete;

  const DataLoaderOptions& options() const { return options_; }
  Batch& batch() { return batch_; }
  bool is_current(uint64_t pass) const { return is_under_way_ && pass == passes_; }

  virtual std::string name() const = 0;
  virtual const std::vector<std::string>& class_names() const = 0;
  /// Null if it does not load one.
  virtual const Dataset* dataset() const { return nullptr; }

  virtual std::optional<SourceStatistics> statistics() const { return std::nullopt; }

  /// Returns the number of the pass.
  virtual uint64_t begin() = 0;
  /// Makes the next batch of the pass current, or ends the pass.
  virtual void advance() = 0;
  /// Ends a pass early, if it is under way.
  virtual void leave(uint64_t pass) = 0;
  virtual int64_t size() const = 0;

  virtual LoaderState state() const = 0;
  virtual void restore(const LoaderState& state) = 0;
  virtual void set_epoch(int64_t epoch) = 0;

 protected:
  DataLoaderOptions options_;
  uint64_t passes_ = 0;
  bool is_under_way_ = false;
  bool was_left_ = false;  // the last pass did not reach its end
  Batch batch_;
};

std::shared_ptr<LoaderImpl> make_set_loader(Dataset dataset, DataLoaderOptions options);
std::shared_ptr<LoaderImpl> make_source_loader(MinibatchSource source, SourceLoaderOptions options);

}  // namespace thalweg::data
