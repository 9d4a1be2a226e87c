#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <thalweg/base/threads.h>

namespace thalweg::data {

struct PrefetcherOptions {
  int workers = 1;
  size_t max_bytes = 0;   // of items that are made or being made and not yet taken
  size_t item_bytes = 0;  // expected size of an item, until one is larger
  // next() makes an item too in place of waiting for one, where processors are left for it.
  bool caller_helps = false;
};

/// Makes items 0, 1, 2, ... on threads of its own, ahead of their use, and hands them out in order.
/// No item is begun while those ahead hold max_bytes, except the one that is waited for: one item
/// larger than the bound still gets through. Items are destroyed, and threads ended, with this.
template <typename Item>
class Prefetcher {
 public:
  /// Makes item `number`, or none when the items before it were all; several threads call it.
  using Make = std::function<std::optional<Item>(int64_t number)>;
  using Bytes = std::function<size_t(const Item& item)>;

  Prefetcher(PrefetcherOptions options, Make make, Bytes bytes)
      : options_(options), make_(std::move(make)), bytes_(std::move(bytes)) {
    if (static_cast<unsigned>(options.workers) >= std::thread::hardware_concurrency())
      options_.caller_helps = false;
    try {
      for (int i = 0; i < options.workers; ++i) threads_.emplace_back([this] { work(); });
    } catch (...) {
      stop();
      throw;
    }
  }
  ~Prefetcher() { stop(); }
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// Bytes that count towards max_bytes now.
  size_t held_bytes() const {
    const std::lock_guard lock(mutex_);
    return held_bytes_;
  }

  /// The next item, waiting for it; none after the last. Throws what making it threw, and from then
  /// on gives none.
  std::optional<Item> next() {
    std::unique_lock lock(mutex_);
    const auto is_ready = [&] { return is_over() || (!slots_.empty() && slots_.front().is_made); };
    while (options_.caller_helps && !is_ready() && may_begin()) make_one(lock);
    made_.wait(lock, is_ready);
    if (is_over()) return std::nullopt;
    Slot slot = std::move(slots_.front());
    slots_.pop_front();
    ++taken_;
    held_bytes_ -= slot.bytes;
    if (slot.error) end_ = taken_;
    lock.unlock();
    wanted_.notify_all();
    if (slot.error) std::rethrow_exception(slot.error);
    return std::move(slot.item);
  }

 private:
  struct Slot {
    bool is_made = false;
    size_t bytes = 0;
    std::optional<Item> item;
    std::exception_ptr error;
  };

  // Under the lock, all of these.
  bool is_over() const { return taken_ >= end_; }
  int64_t next_number() const { return taken_ + static_cast<int64_t>(slots_.size()); }
  bool may_begin() const {
    return next_number() < end_ &&
           (slots_.empty() || held_bytes_ + options_.item_bytes <= options_.max_bytes);
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wanted_.wait(lock, [&] { return stopped_ || may_begin(); });
      if (stopped_) return;
      make_one(lock);
    }
  }

  void make_one(std::unique_lock<std::mutex>& lock) {
    const int64_t number = next_number();
    slots_.push_back({});
    slots_.back().bytes = options_.item_bytes;
    held_bytes_ += options_.item_bytes;
    lock.unlock();
    Slot made = make_slot(number);
    lock.lock();
    put(number, std::move(made));
  }

  Slot make_slot(int64_t number) const {
    const SerialScope serial;  // in the caller's thread too
    Slot slot;
    slot.is_made = true;
    try {
      slot.item = make_(number);
      if (slot.item) slot.bytes = bytes_(*slot.item);
    } catch (...) {
      slot.error = std::current_exception();
    }
    return slot;
  }

  void put(int64_t number, Slot made) {
    Slot& slot = slots_[static_cast<size_t>(number - taken_)];
    held_bytes_ += made.bytes - slot.bytes;
    options_.item_bytes = std::max(options_.item_bytes, made.bytes);
    if (!made.item) end_ = std::min(end_, number + (made.error ? 1 : 0));
    slot = std::move(made);
    if (number == taken_ || is_over()) made_.notify_one();
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    wanted_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  PrefetcherOptions options_;
  Make make_;
  Bytes bytes_;

  mutable std::mutex mutex_;
  std::condition_variable wanted_;  // workers wait for it
  std::condition_variable made_;    // the caller waits for it
  std::deque<Slot> slots_;          // of the items taken_, taken_ + 1, ...
  int64_t taken_ = 0;
  int64_t end_ = std::numeric_limits<int64_t>::max();  // items there are, as far as is known
  size_t held_bytes_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace thalweg::data
