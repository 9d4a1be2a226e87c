#include "base/gzip_reader.h"

#include <zlib.h>

#include "base/fail.h"

namespace thalweg {
namespace {

constexpr size_t kBufferSize = 256 * 1024;
constexpr std::byte kMagic[] = {std::byte{0x1f}, std::byte{0x8b}};

}  // namespace

bool is_gzip(Bytes start) {
  return start.size() >= 2 && start[0] == kMagic[0] && start[1] == kMagic[1];
}

struct GzipReader::Inflate {
  Inflate() {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Inflate() { inflateEnd(&stream); }

  z_stream stream{};
};

GzipReader::GzipReader(std::unique_ptr<Reader> packed)
    : Reader(packed->name()),
      packed_(std::move(packed)),
      inflate_(std::make_unique<Inflate>()),
      in_(kBufferSize),
      out_(kBufferSize) {}

GzipReader::~GzipReader() = default;

void GzipReader::fail_member(const char* reason) const {
  fail_io("gunzip: {}; {} in the gzip member at byte {}, after {} unpacked bytes", reason, name(),
          member_offset_, offset() + out_.size() - inflate_->stream.avail_out);
}

// False at the end of the packed data.
bool GzipReader::refill() {
  z_stream& stream = inflate_->stream;
  if (stream.avail_in > 0) return true;
  const size_t n = packed_->read_some(in_);
  stream.next_in = reinterpret_cast<Bytef*>(in_.data());
  stream.avail_in = static_cast<uInt>(n);
  return n > 0;
}

// False after the last member. Zeros may pad it, as on tapes; anything else is a member or an
// error.
bool GzipReader::begin_member() {
  z_stream& stream = inflate_->stream;
  while (refill()) {
    if (*stream.next_in != 0) {
      member_offset_ = packed_->offset() - stream.avail_in;
      inflateReset(&stream);
      in_member_ = true;
      return true;
    }
    ++stream.next_in;
    --stream.avail_in;
  }
  return false;
}

Bytes GzipReader::next_chunk() {
  z_stream& stream = inflate_->stream;
  stream.next_out = reinterpret_cast<Bytef*>(out_.data());
  stream.avail_out = static_cast<uInt>(out_.size());
  while (stream.avail_out > 0) {
    if (!in_member_ && !begin_member()) break;
    if (!refill()) fail_member("data end inside the member");
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_STREAM_END) in_member_ = false;
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK && status != Z_STREAM_END) {
      fail_member(stream.msg != nullptr ? stream.msg : "data are damaged");
    }
  }
  return Bytes(out_).first(out_.size() - stream.avail_out);
}

}  // namespace thalweg
