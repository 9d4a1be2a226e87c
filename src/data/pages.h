#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace thalweg::data {

/// Memory for chunks: from malloc while it is little, else in pages straight from the system, to
/// which they go back when they are freed. malloc would keep them, by the thread that asked, and a
/// source would hold far more than it counts. A few are kept for who asks next.
///
/// Resizes `memory` of `before` bytes (null and 0: none yet) to `bytes`; contents stay as far as
/// both go. 0 frees it. Throws std::bad_alloc.
void* resize_pages(void* memory, size_t before, size_t bytes);

/// Has the system find the pages of such memory at once, which is cheaper than one by one when they
/// are first written to.
void find_pages(void* memory, size_t bytes);

/// Bytes in such memory, not set to anything, all of which are going to be written to.
class PageBuffer {
 public:
  explicit PageBuffer(size_t size)
      : data_(static_cast<char*>(resize_pages(nullptr, 0, size))), size_(size) {
    find_pages(data_, size);
  }
  ~PageBuffer() { resize_pages(data_, size_, 0); }
  PageBuffer(const PageBuffer&) = delete;
  PageBuffer& operator=(const PageBuffer&) = delete;

  char* get() const { return data_; }

 private:
  char* data_;
  size_t size_;
};

}  // namespace thalweg::data
