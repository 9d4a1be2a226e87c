#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <thalweg/thalweg.h>

namespace thalweg::cli {

/// Files that a minibatch source reads.
struct Corpus {
  std::function<data::DeserializerHandle()> open;  // anew, as each source has its own
  std::string name = {};
  std::vector<data::StreamInfo> streams = {};
  std::string data = {};   // the stream that goes into the net; "": the first
  std::string label = {};  // the stream that it is to give; "": the first of the others
  size_t memory_limit = size_t{1} << 30;
  bool balance = false;      // classes are drawn equally often
  bool padded = false;       // whole sequences, side by side
  bool keep_sparse = false;  // the net takes a sparse stream as it is
};

/// What a recipe trains or tests on: samples by number, or files.
class DataHalf {
 public:
  DataHalf(data::Dataset set) : set_(std::move(set)) {}    // NOLINT: implicit
  DataHalf(Corpus corpus) : corpus_(std::move(corpus)) {}  // NOLINT: implicit

  std::string name() const;
  int64_t samples() const;
  std::vector<std::string> class_names() const;
  /// Of the net's input; its shape is that of a sample.
  data::Field field() const;
  /// The input of the first sample, [1, ...].
  Tensor example() const;

  /// With the input after the steps.
  DataHalf transformed(std::vector<data::Transform> steps) const;
  /// With labels of files that are one number in text made the number of a class.
  DataHalf with_class_labels() const;
  /// Sparse input goes into the net as it is, if that takes it.
  DataHalf for_net(const nn::Module& net) const;
  /// `prefetch_bytes` is for data sets.
  data::DataLoader loader(const data::DataLoaderOptions& options) const;

  /// Null if files are read.
  const data::Dataset* set() const { return set_ ? &*set_ : nullptr; }

 private:
  data::MinibatchSource source(data::MinibatchSourceOptions options) const;
  const data::StreamInfo& stream() const;
  const data::StreamInfo* label_stream() const;

  std::optional<data::Dataset> set_;
  std::optional<Corpus> corpus_;
  std::vector<data::Transform> steps_;  // of the corpus
  std::vector<data::Transform> label_steps_;
};

}  // namespace thalweg::cli
