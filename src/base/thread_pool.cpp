#include "base/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <system_error>
#include <utility>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thalweg/base/threads.h>

#include "base/log_format.h"

namespace thalweg {
namespace {

using Clock = std::chrono::steady_clock;

// How long a thread looks for what it waits for before it sleeps. A sleeper takes about 15 us to
// wake; a neighbour on the same core loses no more than this per job.
constexpr auto kSpin = std::chrono::microseconds(20);

// A worker that lost its core in mid-chunk holds up the caller until the scheduler gives it back,
// often 4 ms. After such a stall the caller works alone for this many times its length, so that
// stalls take no more than a fiftieth of the time whatever the neighbours do; but not for long, as
// a stall may also be a laptop's sleep.
constexpr int kAlonePerStall = 50;
constexpr Clock::duration kMaxAlone = std::chrono::seconds(1);
constexpr auto kStall = std::chrono::microseconds(50);

constexpr uint64_t kOneJob = uint64_t{1} << 32;

uint64_t job_of(uint64_t ticket) { return ticket >> 32; }
uint32_t chunks_left(uint64_t ticket) { return static_cast<uint32_t>(ticket); }

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is a plain word");

void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake(const std::atomic<uint32_t>& word, int n) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, n, nullptr, nullptr, 0);
}

template <typename Done>
bool spin_until(Done done) {
  const auto end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < 8; ++i) {
      if (done()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (Clock::now() < end);
  return done();
}

}  // namespace

ThreadPool::~ThreadPool() { stop_workers(); }

void ThreadPool::resize(int n_threads) {
  std::lock_guard lock(job_mutex_);
  stop_workers();
  alone_until_ = {};
  n_threads_.store(n_threads, std::memory_order_relaxed);
}

bool ThreadPool::try_run(const Job& job, FunctionRef<void(int64_t)> tile) {
  std::unique_lock lock(job_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  const Clock::time_point start = Clock::now();
  if (start < alone_until_) return false;
  start_workers(n_threads() - 1);

  const int64_t n_chunks = (job.n_tiles + job.chunk - 1) / job.chunk;
  tile_.store(&tile, std::memory_order_relaxed);
  n_tiles_.store(job.n_tiles, std::memory_order_relaxed);
  chunk_.store(job.chunk, std::memory_order_relaxed);
  first_failed_.store(job.n_tiles, std::memory_order_relaxed);
  unfinished_.store(static_cast<uint32_t>(n_chunks), std::memory_order_relaxed);
  avoided_cpu_.store(job.is_long ? -1 : sched_getcpu(), std::memory_order_relaxed);
  const uint64_t number = job_of(ticket_.load(std::memory_order_relaxed) + kOneJob);
  ticket_.store(number << 32 | static_cast<uint32_t>(n_chunks), std::memory_order_release);
  wake_helpers(job.n_helpers);

  take_chunks(number);
  const Clock::time_point own_end = Clock::now();
  wait_until_done();
  const Clock::time_point end = Clock::now();
  // Waiting longer than working is no better than having worked alone.
  if (end - own_end > own_end - start + kStall) {
    alone_until_ = end + std::min(kAlonePerStall * (end - own_end), kMaxAlone);
  }
  if (failure_.exception) std::rethrow_exception(std::exchange(failure_.exception, nullptr));
  return true;
}

void ThreadPool::start_workers(int n) {
  try {
    while (static_cast<int>(workers_.size()) < n) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    n_threads_.store(static_cast<int>(workers_.size()) + 1, std::memory_order_relaxed);
    log_warn("threads: the system gives {} of {} threads; {}", n_threads(), n + 1, error.what());
  }
}

void ThreadPool::stop_workers() {
  stop_.store(true);
  wake_helpers(INT_MAX);
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  stop_.store(false);
}

// Either a worker about to sleep sees the new word, or this sees the worker in sleepers_.
void ThreadPool::wake_helpers(int n) {
  wake_word_.fetch_add(1);
  if (sleepers_.load() > 0) futex_wake(wake_word_, n);
}

void ThreadPool::work() {
  SerialScope serial;
  while (true) {
    const uint32_t word = wake_word_.load();
    if (stop_.load()) return;
    if (!on_avoided_cpu()) {
      take_chunks(job_of(ticket_.load(std::memory_order_acquire)));
      const auto woken = [&] { return wake_word_.load(std::memory_order_relaxed) != word; };
      if (spin_until([&] { return woken() || on_avoided_cpu(); }) && woken()) continue;
    }
    sleepers_.fetch_add(1);
    futex_wait(wake_word_, word);
    sleepers_.fetch_sub(1);
  }
}

// The scheduler puts a worker on the caller's core if no other is idle. For a short job it would
// only push the caller aside. In a long one it gets a core in the end, if need be its share of one.
bool ThreadPool::on_avoided_cpu() const {
  return sched_getcpu() == avoided_cpu_.load(std::memory_order_relaxed);
}

void ThreadPool::take_chunks(uint64_t job_number) {
  uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (job_of(ticket) == job_number && chunks_left(ticket) > 0) {
    const FunctionRef<void(int64_t)>* tile = tile_.load(std::memory_order_relaxed);
    const int64_t n_tiles = n_tiles_.load(std::memory_order_relaxed);
    const int64_t chunk = chunk_.load(std::memory_order_relaxed);
    if (!ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
      continue;
    }
    const int64_t n_chunks = (n_tiles + chunk - 1) / chunk;
    const int64_t begin = (n_chunks - chunks_left(ticket)) * chunk;
    run_chunk(*tile, begin, std::min(begin + chunk, n_tiles));
    if (unfinished_.fetch_sub(1) == 1 && caller_sleeps_.load()) futex_wake(unfinished_, 1);
    ticket = ticket_.load(std::memory_order_acquire);
  }
}

// Tiles after one that threw need not run. Those before it are all taken already and do run, so
// that the exception kept in the end is that of the first tile that throws, whatever the timing.
void ThreadPool::run_chunk(FunctionRef<void(int64_t)> tile, int64_t begin, int64_t end) {
  int64_t i = begin;
  try {
    for (; i < end && i < first_failed_.load(std::memory_order_relaxed); ++i) tile(i);
  } catch (...) {
    std::lock_guard lock(failure_.mutex);
    if (i >= first_failed_.load(std::memory_order_relaxed)) return;
    first_failed_.store(i, std::memory_order_relaxed);
    failure_.exception = std::current_exception();
  }
}

void ThreadPool::wait_until_done() {
  if (spin_until([&] { return unfinished_.load(std::memory_order_acquire) == 0; })) return;
  caller_sleeps_.store(true);
  while (const uint32_t left = unfinished_.load()) futex_wait(unfinished_, left);
  caller_sleeps_.store(false);
}

}  // namespace thalweg
