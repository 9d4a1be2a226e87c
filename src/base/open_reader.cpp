#include <algorithm>
#include <vector>

#include <thalweg/base/file.h>
#include <thalweg/base/reader.h>

#include "base/gzip_reader.h"
#include "base/zstd_reader.h"

namespace thalweg {
namespace {

constexpr size_t kBufferSize = 256 * 1024;

class FileReader final : public Reader {
 public:
  explicit FileReader(const std::string& path)
      : Reader(path), file_(path), size_(file_.size()), buffer_(kBufferSize) {
    filled_ = file_.read_next(buffer_);
  }

  /// What the file begins with, before anything is read.
  Bytes start() const { return Bytes(buffer_).first(filled_); }

  std::optional<uint64_t> remaining() const override {
    if (size_ == 0) return std::nullopt;  // empty, or a pipe
    return size_ - std::min(size_, offset());
  }

 private:
  Bytes next_chunk() override {
    const size_t n = is_first_ ? filled_ : file_.read_next(buffer_);
    is_first_ = false;
    return Bytes(buffer_).first(n);
  }

  File file_;
  uint64_t size_;
  std::vector<std::byte> buffer_;
  size_t filled_ = 0;
  bool is_first_ = true;
};

}  // namespace

bool is_zstd(Bytes start) { return as_text(start).starts_with("\x28\xb5\x2f\xfd"); }

std::unique_ptr<Reader> open_reader(const std::string& path) {
  auto file = std::make_unique<FileReader>(path);
  if (is_gzip(file->start())) return std::make_unique<GzipReader>(std::move(file));
  if (is_zstd(file->start())) return make_zstd_reader(std::move(file));
  return file;
}

std::unique_ptr<Reader> open_reader(Bytes bytes, std::string name) {
  auto memory = std::make_unique<MemoryReader>(bytes, std::move(name));
  if (is_gzip(bytes)) return std::make_unique<GzipReader>(std::move(memory));
  if (is_zstd(bytes)) return make_zstd_reader(std::move(memory));
  return memory;
}

}  // namespace thalweg
