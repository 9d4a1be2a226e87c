#include <thalweg/base/writer.h>

namespace thalweg {

void Writer::write(Bytes bytes) {
  offset_ += bytes.size();
  if (buffer_.size() + bytes.size() > buffer_size_) {
    flush_buffer();
    if (bytes.size() >= buffer_size_) return put(bytes);
  }
  if (buffer_.capacity() == 0) buffer_.reserve(buffer_size_);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void Writer::flush_buffer() {
  if (!buffer_.empty()) put(buffer_);
  buffer_.clear();
}

}  // namespace thalweg
