// The rows of NPY, NPZ and IDX in the table of formats, and writing them.

#include <memory>

#include <thalweg/base/checksum.h>
#include <thalweg/base/writer.h>
#include <thalweg/data/array_files.h>

#include "base/fail.h"
#include "data/formats/format_rows.h"
#include "data/formats/format_values.h"
#include "data/formats/idx_header.h"
#include "data/formats/npy_header.h"
#include "data/formats/row_spool.h"
#include "data/formats/zip.h"

namespace thalweg::data {
namespace {

// Rows of each stream, on disk until all are there: the formats begin with their number.
class ArrayWriter : public SequenceWriter {
 public:
  ArrayWriter(const char* format, const std::string& path, const WriteOptions& options)
      : file_(path), streams_(options.streams), format_(format) {
    require_dense(format_, streams_);
    for (size_t s = 0; s < streams_.size(); ++s)
      spools_.push_back(std::make_unique<RowSpool>(file_.path()));
  }

  void write(const SequenceKey& key, std::span<const StreamValues> values) override {
    require_single_samples(format_, key, values);
    for (size_t s = 0; s < streams_.size(); ++s) {
      const size_t bytes =
          static_cast<size_t>(element_count(streams_[s].shape)) * item_size(streams_[s].dtype);
      spools_[s]->write(Bytes(static_cast<const std::byte*>(values[s].values), bytes));
    }
    ++count_;
  }

 protected:
  void require_single() const {
    if (streams_.size() == 1) return;
    fail_invalid("{}: a file holds one stream, and there are {}; write npz", format_,
                 streams_.size());
  }
  const StreamInfo& stream(size_t s) const { return streams_[s]; }
  size_t streams() const { return streams_.size(); }
  /// Of the array with all rows so far.
  Shape shape(size_t s) const {
    Shape shape = streams_[s].shape;
    shape.insert(0, count_);
    return shape;
  }
  RowSpool& rows(size_t s) { return *spools_[s]; }

  AtomicFile file_;

 private:
  std::vector<StreamInfo> streams_;
  const char* format_;
  std::vector<std::unique_ptr<RowSpool>> spools_;
  int64_t count_ = 0;
};

class NpyWriter final : public ArrayWriter {
 public:
  NpyWriter(const std::string& path, const WriteOptions& options)
      : ArrayWriter("npy", path, options) {
    require_single();
    npy_header(stream(0).dtype, {});  // a dtype that the format lacks is an error before any row
  }
  void commit() override {
    file_.write(npy_header(stream(0).dtype, shape(0)));
    rows(0).read_back([&](std::span<std::byte> piece) { file_.write(piece); });
    file_.commit();
  }
};

class NpzWriter final : public ArrayWriter {
 public:
  NpzWriter(const std::string& path, const WriteOptions& options)
      : ArrayWriter("npz", path, options) {
    for (size_t s = 0; s < streams(); ++s) npy_header(stream(s).dtype, {});
  }
  void commit() override {
    ZipWriter zip(file_);
    for (size_t s = 0; s < streams(); ++s) {
      const std::string header = npy_header(stream(s).dtype, shape(s));
      uint32_t crc = crc32(as_bytes(header));
      rows(s).read_back([&](std::span<std::byte> piece) { crc = crc32(piece, crc); });
      zip.begin(stream(s).name + ".npy", header.size() + rows(s).offset(), crc);
      file_.write(header);
      rows(s).read_back([&](std::span<std::byte> piece) { file_.write(piece); });
    }
    zip.finish();
    file_.commit();
  }
};

class IdxWriter final : public ArrayWriter {
 public:
  IdxWriter(const std::string& path, const WriteOptions& options)
      : ArrayWriter("idx", path, options) {
    require_single();
    idx_header(stream(0).dtype, {});
  }
  void commit() override {
    file_.write(idx_header(stream(0).dtype, shape(0)));
    const size_t item_bytes = item_size(stream(0).dtype);
    rows(0).read_back([&](std::span<std::byte> piece) {
      swap_items(piece.data(), piece.size() / item_bytes, item_bytes);
      file_.write(piece);
    });
    file_.commit();
  }
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

template <typename FormatWriter>
std::unique_ptr<SequenceWriter> create(const std::string& path, const WriteOptions& options) {
  return std::make_unique<FormatWriter>(path, options);
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
  format.create = create<NpyWriter>;
  return format;
}

Format npz_format() {
  Format format;
  format.name = "npz";
  format.doc = "NumPy's archive, a stream per array";
  format.extensions = {".npz"};
  format.holds_keys = false;
  format.open = open_npz;
  format.create = create<NpzWriter>;
  return format;
}

Format idx_format() {
  Format format = single_array();
  format.name = "idx";
  format.doc = "the format of the MNIST family, whose first axis are the samples";
  format.extensions = {".idx1-ubyte", ".idx3-ubyte"};
  format.open = open_idx;
  format.create = create<IdxWriter>;
  return format;
}

}  // namespace thalweg::data
