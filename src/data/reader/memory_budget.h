#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace thalweg::data {

/// Counts the memory that chunks take. Room is given to loads 0, 1, ... strictly in this order, so
/// that what is needed first is never kept out by what is needed later.
class MemoryBudget {
 public:
  explicit MemoryBudget(size_t limit) : limit_(limit) {}

  /// Waits until load `number` is the next and `bytes` have room, or the load is needed and no more
  /// room will come. False when closed.
  bool take(int64_t number, size_t bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      const bool is_due = number <= needed_ && users_ == 0;
      return closed_ || (number == next_ && (is_due || held_ == 0 || held_ + bytes <= limit_));
    });
    if (closed_) return false;
    ++next_;
    add_locked(bytes);
    changed_.notify_all();
    return true;
  }

  /// The reader cannot go on without the loads up to `number`.
  void need(int64_t number) {
    const std::lock_guard lock(mutex_);
    needed_ = std::max(needed_, number);
    changed_.notify_all();
  }

  /// While somebody makes a minibatch, room may become free by its end.
  void begin_use() {
    const std::lock_guard lock(mutex_);
    ++users_;
  }
  void end_use() {
    const std::lock_guard lock(mutex_);
    --users_;
    changed_.notify_all();
  }

  void give_back(size_t bytes) { replace(bytes, 0); }
  /// What took `before` takes `now`.
  void replace(size_t before, size_t now) {
    const std::lock_guard lock(mutex_);
    held_ -= before;
    add_locked(now);
    changed_.notify_all();
  }

  /// Nobody waits any longer.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  /// The next load is number 0 again; what is held stays held.
  void reopen() {
    const std::lock_guard lock(mutex_);
    closed_ = false;
    next_ = 0;
    needed_ = -1;
  }

  size_t limit() const { return limit_; }
  size_t held() const {
    const std::lock_guard lock(mutex_);
    return held_;
  }
  size_t most() const {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  void add_locked(size_t bytes) {
    held_ += bytes;
    most_ = std::max(most_, held_);
  }

  size_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  size_t held_ = 0;
  size_t most_ = 0;
  int64_t next_ = 0;
  int64_t needed_ = -1;
  int64_t users_ = 0;
  bool closed_ = false;
};

}  // namespace thalweg::data
