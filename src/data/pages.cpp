#include "data/pages.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>

#include <sys/mman.h>

namespace thalweg::data {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = 2 << 20;
constexpr size_t kFromSystem = 64 << 10;  // from so many bytes on
constexpr size_t kMostKept = 4 << 20;     // bytes of regions that nobody uses

size_t in_pages(size_t bytes) {
  if (bytes > SIZE_MAX - kPage) throw std::bad_alloc();
  return (bytes + kPage - 1) / kPage * kPage;
}

bool is_from_system(size_t bytes) { return bytes >= kFromSystem; }

void* remap(void* memory, size_t before, size_t bytes) {
  if (in_pages(before) == in_pages(bytes)) return memory;
  void* moved = ::mremap(memory, in_pages(before), in_pages(bytes), MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) throw std::bad_alloc();
  return moved;
}

/// Regions whose pages are there already, which saves the system from clearing new ones.
class KeptRegions {
 public:
  /// One of them, made to be of `bytes`; null if none has nearly as many: what is cut off goes
  /// back, and what is added is found anew.
  void* take(size_t bytes) {
    Region region{nullptr, 0};
    {
      const std::lock_guard lock(mutex_);
      const auto distance = [bytes](const Region& r) {
        return r.bytes < bytes ? bytes - r.bytes : r.bytes - bytes;
      };
      const auto regions = std::span(regions_).first(count_);
      const auto nearest = std::ranges::min_element(regions, {}, distance);
      if (nearest == regions.end() || distance(*nearest) > bytes / 4) return nullptr;
      region = std::exchange(*nearest, regions_[--count_]);
      kept_ -= in_pages(region.bytes);
    }
    return remap(region.memory, region.bytes, bytes);
  }

  bool keep(void* memory, size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (count_ == std::size(regions_) || kept_ + in_pages(bytes) > kMostKept) return false;
    regions_[count_++] = {memory, bytes};
    kept_ += in_pages(bytes);
    return true;
  }

 private:
  struct Region {
    void* memory;
    size_t bytes;
  };

  std::mutex mutex_;
  Region regions_[8];
  size_t count_ = 0;
  size_t kept_ = 0;
};

KeptRegions& kept_regions() {
  static auto* regions = new KeptRegions;  // chunks may outlive the end of main
  return *regions;
}

void* allocate(size_t bytes) {
  if (!is_from_system(bytes)) {
    void* memory = std::malloc(bytes);
    if (!memory) throw std::bad_alloc();
    return memory;
  }
  if (void* memory = kept_regions().take(bytes)) return memory;
  void* memory =
      ::mmap(nullptr, in_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

void release(void* memory, size_t bytes) {
  if (!is_from_system(bytes)) {
    std::free(memory);
  } else if (!kept_regions().keep(memory, bytes)) {
    ::munmap(memory, in_pages(bytes));
  }
}

}  // namespace

void* resize_pages(void* memory, size_t before, size_t bytes) {
  if (before == 0) return bytes == 0 ? nullptr : allocate(bytes);
  if (bytes == 0) {
    release(memory, before);
    return nullptr;
  }
  if (is_from_system(before) && is_from_system(bytes)) return remap(memory, before, bytes);
  void* moved = allocate(bytes);
  std::memcpy(moved, memory, std::min(before, bytes));
  release(memory, before);
  return moved;
}

void find_pages(void* memory, size_t bytes) {
  if (!is_from_system(bytes)) return;
  // Systems that do not know of these find pages one by one.
  if (bytes >= 2 * kHugePage) ::madvise(memory, in_pages(bytes), MADV_HUGEPAGE);
  ::madvise(memory, in_pages(bytes), MADV_POPULATE_WRITE);
}

}  // namespace thalweg::data
