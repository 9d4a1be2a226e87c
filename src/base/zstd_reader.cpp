#include "base/zstd_reader.h"

#include <new>
#include <vector>

#include <zstd.h>

#include "base/fail.h"

namespace thalweg {
namespace {

class ZstdReader final : public Reader {
 public:
  explicit ZstdReader(std::unique_ptr<Reader> packed)
      : Reader(packed->name()),
        packed_(std::move(packed)),
        stream_(ZSTD_createDStream()),
        in_(ZSTD_DStreamInSize()),
        out_(ZSTD_DStreamOutSize()) {
    if (!stream_) throw std::bad_alloc();
  }

 private:
  struct FreeStream {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  [[noreturn]] void fail_frame(const char* reason) const {
    fail_io("unzstd: {}; {} in the frame at byte {}, after {} unpacked bytes", reason, name(),
            frame_offset_, offset());
  }

  // False at the end of the packed data.
  bool refill() {
    if (unread_.pos < unread_.size) return true;
    unread_ = {in_.data(), packed_->read_some(in_), 0};
    return unread_.size > 0;
  }

  Bytes next_chunk() override {
    ZSTD_outBuffer out{out_.data(), out_.size(), 0};
    while (out.pos == 0) {
      if (!refill()) {
        // What is left may be in the library's buffers.
        if (!in_frame_) break;
        const size_t status = ZSTD_decompressStream(stream_.get(), &out, &unread_);
        if (ZSTD_isError(status)) fail_frame(ZSTD_getErrorName(status));
        if (status == 0) in_frame_ = false;
        if (status != 0 && out.pos == 0) fail_frame("data end inside the frame");
        continue;
      }
      if (!in_frame_) frame_offset_ = packed_->offset() - (unread_.size - unread_.pos);
      in_frame_ = true;
      const size_t status = ZSTD_decompressStream(stream_.get(), &out, &unread_);
      if (ZSTD_isError(status)) fail_frame(ZSTD_getErrorName(status));
      if (status == 0) in_frame_ = false;
    }
    return Bytes(out_).first(out.pos);
  }

  std::unique_ptr<Reader> packed_;
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
  ZSTD_inBuffer unread_{nullptr, 0, 0};
  uint64_t frame_offset_ = 0;
  bool in_frame_ = false;
};

}  // namespace

std::unique_ptr<Reader> make_zstd_reader(std::unique_ptr<Reader> packed) {
  return std::make_unique<ZstdReader>(std::move(packed));
}

}  // namespace thalweg
