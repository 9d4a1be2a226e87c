#pragma once

// Primitives made once per problem and kept. The least recently made is dropped when there are too
// many.

#include <array>
#include <cstring>
#include <memory>
#include <mutex>

namespace thalweg::onednn {

/// Entries by a key of plain bytes. Any thread may ask; entries are immutable.
template <typename Key, typename Entry>
class Cache {
  static_assert(std::has_unique_object_representations_v<Key>);

 public:
  /// The entry of `key`, made by `make()` if it is new.
  template <typename Make>
  std::shared_ptr<const Entry> get(const Key& key, Make&& make) {
    const uint64_t hashed = hash(key);
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < count_; ++i) {
      const Slot& slot = slots_[i];
      if (slot.hash == hashed && std::memcmp(&slot.key, &key, sizeof(Key)) == 0) return slot.entry;
    }
    Slot& slot = slots_[next_];
    slot = {hashed, key, make()};
    next_ = (next_ + 1) % kSlots;
    count_ = std::max(count_, next_ == 0 ? kSlots : next_);
    return slot.entry;
  }

 private:
  static constexpr size_t kSlots = 128;
  struct Slot {
    uint64_t hash = 0;
    Key key{};
    std::shared_ptr<const Entry> entry;
  };

  static uint64_t hash(const Key& key) {
    static_assert(sizeof(Key) % sizeof(uint64_t) == 0);
    std::array<uint64_t, sizeof(Key) / sizeof(uint64_t)> words;
    std::memcpy(words.data(), &key, sizeof(Key));
    uint64_t h = 0;
    for (const uint64_t word : words) h = (h ^ word) * uint64_t{0x9E3779B97F4A7C15} ^ (h >> 29);
    return h;
  }

  std::mutex mutex_;
  std::array<Slot, kSlots> slots_;
  size_t count_ = 0, next_ = 0;
};

}  // namespace thalweg::onednn
