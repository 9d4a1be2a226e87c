#include "data/formats/range_reader.h"

#include <algorithm>
#include <vector>

#include <thalweg/base/file.h>

namespace thalweg::data {
namespace {

constexpr size_t kBufferSize = 256 * 1024;

class RangeReader final : public Reader {
 public:
  RangeReader(const std::string& path, uint64_t begin)
      : Reader(path), file_(path), begin_(std::min(begin, file_.size())), end_(file_.size()) {}

  std::optional<uint64_t> remaining() const override { return end_ - begin_ - offset(); }

 private:
  Bytes next_chunk() override {
    const uint64_t at = begin_ + offset();
    buffer_.resize(static_cast<size_t>(std::min<uint64_t>(kBufferSize, end_ - at)));
    file_.read_at(at, buffer_);
    return buffer_;
  }

  File file_;
  uint64_t begin_;
  uint64_t end_;
  std::vector<std::byte> buffer_;
};

}  // namespace

std::unique_ptr<Reader> open_range(const std::string& path, uint64_t begin) {
  return std::make_unique<RangeReader>(path, begin);
}

}  // namespace thalweg::data
