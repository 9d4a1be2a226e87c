// The rows of NPY, NPZ and IDX in the table of formats, and writing them.

#include <algorithm>

#include <thalweg/base/writer.h>
#include <thalweg/data/array_files.h>
#include <thalweg/data/idx.h>
#include <thalweg/data/npy.h>

#include "base/fail.h"
#include "data/formats/format_rows.h"
#include "data/formats/format_values.h"

namespace thalweg::data {
namespace {

// Rows of each stream in memory, as tensors when all are there: the formats begin with their
// number.
class ArrayRows {
 public:
  ArrayRows(const char* format, std::vector<StreamInfo> streams)
      : format_(format), streams_(std::move(streams)), rows_(streams_.size()) {
    require_dense(format_, streams_);
  }

  void add(const SequenceKey& key, std::span<const StreamValues> values) {
    require_single_samples(format_, key, values);
    for (size_t s = 0; s < streams_.size(); ++s) {
      const size_t bytes =
          static_cast<size_t>(element_count(streams_[s].shape)) * item_size(streams_[s].dtype);
      const auto* from = static_cast<const std::byte*>(values[s].values);
      rows_[s].insert(rows_[s].end(), from, from + bytes);
    }
    ++count_;
  }

  std::vector<NamedTensor> take() {
    std::vector<NamedTensor> arrays;
    for (size_t s = 0; s < streams_.size(); ++s) {
      Shape shape = streams_[s].shape;
      shape.insert(0, count_);
      Tensor array = Tensor::empty(shape, {.dtype = streams_[s].dtype});
      std::ranges::copy(rows_[s], array.impl()->as<std::byte>());
      rows_[s] = {};
      arrays.push_back({streams_[s].name, std::move(array)});
    }
    return arrays;
  }

 private:
  const char* format_;
  std::vector<StreamInfo> streams_;
  std::vector<std::vector<std::byte>> rows_;
  int64_t count_ = 0;
};

using WriteArrays = void (*)(const std::string& path, std::vector<NamedTensor> arrays);

class ArrayWriter final : public SequenceWriter {
 public:
  ArrayWriter(const char* format, const std::string& path, const WriteOptions& options,
              bool is_single, WriteArrays write)
      : path_(path), rows_(format, options.streams), write_(write) {
    if (is_single && options.streams.size() != 1) {
      fail_invalid("{}: a file holds one stream, and there are {}; write npz", format,
                   options.streams.size());
    }
  }

  void write(const SequenceKey& key, std::span<const StreamValues> values) override {
    rows_.add(key, values);
  }
  void commit() override { write_(path_, rows_.take()); }

 private:
  std::string path_;
  ArrayRows rows_;
  WriteArrays write_;
};

std::vector<ArrayFile> files_of(const char* format, const std::string& path,
                                const FormatOptions& options) {
  std::vector<ArrayFile> files = {{"data", path}};
  const std::string labels = OptionValues(format, options.more).text("labels");
  if (!labels.empty()) files.push_back({"label", labels});
  return files;
}

std::shared_ptr<Deserializer> open_npy(const std::string& path, const FormatOptions& options) {
  return std::make_shared<NPYDeserializer>(files_of("npy", path, options));
}
std::shared_ptr<Deserializer> open_npz(const std::string& path, const FormatOptions&) {
  return std::make_shared<NPYDeserializer>(path);
}
std::shared_ptr<Deserializer> open_idx(const std::string& path, const FormatOptions& options) {
  return std::make_shared<IDXDeserializer>(files_of("idx", path, options));
}

std::unique_ptr<SequenceWriter> create_npy(const std::string& path, const WriteOptions& options) {
  return std::make_unique<ArrayWriter>("npy", path, options, true,
                                       [](const std::string& to, std::vector<NamedTensor> arrays) {
                                         write_npy(to, arrays[0].tensor);
                                       });
}
std::unique_ptr<SequenceWriter> create_npz(const std::string& path, const WriteOptions& options) {
  return std::make_unique<ArrayWriter>(
      "npz", path, options, false,
      [](const std::string& to, std::vector<NamedTensor> arrays) { write_npz(to, arrays); });
}
std::unique_ptr<SequenceWriter> create_idx(const std::string& path, const WriteOptions& options) {
  return std::make_unique<ArrayWriter>("idx", path, options, true,
                                       [](const std::string& to, std::vector<NamedTensor> arrays) {
                                         write_idx(to, arrays[0].tensor);
                                       });
}

Format single_array() {
  Format format;
  format.options = {{"labels", "a file of the same format with a stream 'label' beside 'data'"}};
  format.holds_keys = false;
  return format;
}

}  // namespace

Format npy_format() {
  Format format = single_array();
  format.name = "npy";
  format.doc = "NumPy's array, whose first axis are the samples";
  format.extensions = {".npy"};
  format.open = open_npy;
  format.create = create_npy;
  return format;
}

Format npz_format() {
  Format format;
  format.name = "npz";
  format.doc = "NumPy's archive, a stream per array";
  format.extensions = {".npz"};
  format.holds_keys = false;
  format.open = open_npz;
  format.create = create_npz;
  return format;
}

Format idx_format() {
  Format format = single_array();
  format.name = "idx";
  format.doc = "the format of the MNIST family, whose first axis are the samples";
  format.extensions = {".idx1-ubyte", ".idx3-ubyte"};
  format.open = open_idx;
  format.create = create_idx;
  return format;
}

}  // namespace thalweg::data
