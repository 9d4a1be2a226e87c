#include <algorithm>
#include <new>

#include <thalweg/data/array_files.h>

#include "base/fail.h"
#include "data/formats/idx_header.h"
#include "data/formats/npy_header.h"
#include "data/formats/zip.h"

namespace thalweg::data {
namespace {

constexpr size_t kDefaultLimit = size_t{16} << 20;

// Rows of each array, as they are needed: memory that is not read into is never touched.
class RowsChunk final : public Chunk {
 public:
  RowsChunk(const std::vector<RawArray>& arrays, const std::vector<size_t>& row_bytes,
            int64_t first, int64_t count, const Deserializer::Wanted& wanted)
      : name_(arrays[0].name), row_bytes_(row_bytes), first_(first) {
    for (size_t s = 0; s < arrays.size(); ++s) {
      const size_t size = std::max<size_t>(1, static_cast<size_t>(count) * row_bytes[s]);
      rows_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
      bytes_ += size;
      for_runs(count, wanted, [&](int64_t begin, int64_t end) { read(arrays[s], s, begin, end); });
    }
  }

  size_t bytes() const override { return bytes_; }
  int64_t length(int64_t) const override { return 1; }
  std::string where(int64_t sequence) const override {
    return fmt::format("{}, row {}", name_, first_ + sequence);
  }
  StreamValues read(int64_t sequence, size_t stream, const SequenceDraw&) const override {
    StreamValues values;
    values.samples = 1;
    values.values = rows_[stream].get() + static_cast<size_t>(sequence) * row_bytes_[stream];
    return values;
  }

 private:
  template <typename Run>
  static void for_runs(int64_t count, const Deserializer::Wanted& wanted, Run run) {
    if (wanted.empty()) return run(0, count);
    for (int64_t begin = 0; begin < count;) {
      int64_t end = begin;
      while (end < count && wanted[static_cast<size_t>(end)]) ++end;
      if (end > begin) run(begin, end);
      begin = end + 1;
    }
  }

  void read(const RawArray& array, size_t stream, int64_t begin, int64_t end) {
    const size_t row = row_bytes_[stream];
    const std::span into(rows_[stream].get() + static_cast<size_t>(begin) * row,
                         static_cast<size_t>(end - begin) * row);
    read_items(array, static_cast<uint64_t>(first_ + begin) * row, into);
  }

  std::string name_;
  const std::vector<size_t>& row_bytes_;
  int64_t first_;
  std::vector<std::unique_ptr<std::byte[]>> rows_;
  size_t bytes_ = 0;
};

class ArrayCorpus final : public Deserializer, public std::enable_shared_from_this<ArrayCorpus> {
 public:
  explicit ArrayCorpus(std::vector<std::pair<std::string, RawArray>> streams) {
    if (streams.empty()) fail_invalid("arrays: no file was given");
    for (auto& [stream, array] : streams) add(stream, std::move(array));
    limit_chunks(kDefaultLimit);
  }

  std::string name() const override { return arrays_[0].name; }
  const std::vector<StreamInfo>& streams() const override { return streams_; }
  void limit_chunks(size_t bytes) override {
    size_t all = 0;
    for (size_t row : row_bytes_) all += row;
    chunk_rows_ = std::max<int64_t>(1, static_cast<int64_t>(bytes / std::max<size_t>(1, all)));
    chunk_rows_ = std::min(chunk_rows_, rows_);
  }
  bool has_chunk(int64_t chunk) const override { return chunk < chunks(); }
  int64_t chunks() const override { return (rows_ + chunk_rows_ - 1) / chunk_rows_; }
  ChunkInfo chunk(int64_t chunk) const override {
    ChunkInfo info;
    info.sequences = std::min(chunk_rows_, rows_ - chunk * chunk_rows_);
    for (size_t row : row_bytes_) info.bytes += row * static_cast<size_t>(info.sequences);
    return info;
  }
  std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted& wanted) const override {
    auto rows = std::make_unique<RowsChunk>(arrays_, row_bytes_, chunk * chunk_rows_,
                                            this->chunk(chunk).sequences, wanted);
    // The chunk looks into this object.
    return {rows.release(), [self = shared_from_this()](const RowsChunk* made) { delete made; }};
  }
  bool loads_parts() const override { return true; }

 private:
  void add(const std::string& stream, RawArray array) {
    if (array.shape.empty()) fail_invalid("arrays: a single number has no samples; {}", array.name);
    if (array.column_major) {
      fail_invalid(
          "arrays: the array is in Fortran's order, whose samples do not lie together; {}; "
          "save numpy.ascontiguousarray of it",
          array.name);
    }
    if (array.shape[0] == 0) fail_io("arrays: the array has no samples; {}", array.name);
    if (!arrays_.empty() && array.shape[0] != rows_) {
      fail_invalid("arrays: numbers of samples differ; {} has {}, {} has {}", arrays_[0].name,
                   rows_, array.name, array.shape[0]);
    }
    rows_ = array.shape[0];
    Shape sample = array.shape;
    sample.erase(0);
    row_bytes_.push_back(static_cast<size_t>(element_count(sample)) * item_size(array.dtype));
    streams_.push_back({stream, array.dtype, sample, false, {}});
    arrays_.push_back(std::move(array));
  }

  std::vector<RawArray> arrays_;
  std::vector<StreamInfo> streams_;
  std::vector<size_t> row_bytes_;
  int64_t rows_ = 0;
  int64_t chunk_rows_ = 1;
};

RawArray open_npy(const std::string& path) {
  const std::shared_ptr<const ByteSource> source = open_source(path);
  return read_npy_header(source, 0, source->size(), path);
}

RawArray open_entry(const ZipArchive& zip, size_t i, const std::string& path) {
  const ZipEntry& entry = zip.entries()[i];
  const std::string name = fmt::format("{}: {}", path, entry.name);
  if (entry.method == 0) {
    const std::shared_ptr<const ByteSource> source = open_source(path);
    const uint64_t begin = zip.content_offset(i);
    if (begin > source->size() || entry.size > source->size() - begin)
      fail_io("npy: the file ends inside the array; {}", name);
    return read_npy_header(source, begin, begin + entry.size, name);
  }
  const std::shared_ptr<const ByteSource> source = unpacked_source(zip.read(i), name);
  return read_npy_header(source, 0, entry.size, name);
}

std::vector<std::pair<std::string, RawArray>> open_npz(const std::string& path) {
  const ZipArchive zip(open_source(path));
  std::vector<std::pair<std::string, RawArray>> streams;
  for (size_t i = 0; i < zip.entries().size(); ++i) {
    std::string name = zip.entries()[i].name;
    if (name.ends_with(".npy")) name.erase(name.size() - 4);
    streams.emplace_back(std::move(name), open_entry(zip, i, path));
  }
  return streams;
}

bool is_zip(const std::string& path) {
  std::byte start[2];
  return open_source(path)->read_some_at(0, start) == 2 && as_text(start) == "PK";
}

}  // namespace

NPYDeserializer::NPYDeserializer(const std::vector<ArrayFile>& files) {
  std::vector<std::pair<std::string, RawArray>> streams;
  for (const ArrayFile& file : files) streams.emplace_back(file.stream, open_npy(file.path));
  inner_ = std::make_shared<ArrayCorpus>(std::move(streams));
}

NPYDeserializer::NPYDeserializer(const std::string& path) {
  std::vector<std::pair<std::string, RawArray>> streams;
  if (is_zip(path))
    streams = open_npz(path);
  else
    streams.emplace_back("data", open_npy(path));
  inner_ = std::make_shared<ArrayCorpus>(std::move(streams));
}

IDXDeserializer::IDXDeserializer(const std::vector<ArrayFile>& files) {
  std::vector<std::pair<std::string, RawArray>> streams;
  for (const ArrayFile& file : files)
    streams.emplace_back(file.stream, read_idx_header(open_source(file.path)));
  inner_ = std::make_shared<ArrayCorpus>(std::move(streams));
}

}  // namespace thalweg::data
