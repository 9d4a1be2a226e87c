#pragma once

// The threads behind parallel_tiles.
//
// Why not OpenMP: libgomp's threads spin between regions, and only the environment before main can
// tell them not to; its barrier waits for threads that have no core. Measured on 2 cores with a
// busy neighbour on one, a region every 200 us: libgomp's two empty tiles take 365 to 820 us (p99 8
// to 12 ms); four tiles of 5 us take 23 to 26 us here, 20 in one thread, 11 with both cores idle.
// The caller takes tiles itself and waits only for those that another thread has begun, so a worker
// without a core costs little.
//
// One job at a time. ticket_ holds the job's number and how many of its chunks of tiles are not yet
// taken. A thread reads the ticket, then the job's fields, then takes a chunk by compare and swap;
// success proves that the fields are those of the ticket's job, since they change only after all
// chunks of that job are done.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <thalweg/base/function_ref.h>

namespace thalweg {

class ThreadPool {
 public:
  /// Workers start with the first job.
  explicit ThreadPool(int n_threads) : n_threads_(n_threads) {}
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int n_threads() const { return n_threads_.load(std::memory_order_relaxed); }

  /// Waits for the running job and ends the workers; the next job starts new ones.
  void resize(int n_threads);

  struct Job {
    int64_t n_tiles;
    int64_t chunk;  // tiles that a thread takes at a time; n_tiles / chunk < 2^32
    int n_helpers;  // workers to wake
    bool is_long;   // many times longer than the scheduler needs to move a thread to an idle core
  };

  /// Runs the tiles in the caller and the workers. Throws what the first throwing tile in index
  /// order threw. False, with nothing done, if another thread's job has the workers.
  bool try_run(const Job& job, FunctionRef<void(int64_t)> tile);

 private:
  struct Failure {
    std::mutex mutex;
    std::exception_ptr exception;
  };

  void start_workers(int n);
  void stop_workers();
  void wake_helpers(int n);
  void work();
  bool on_avoided_cpu() const;
  void take_chunks(uint64_t job_number);
  void run_chunk(FunctionRef<void(int64_t)> tile, int64_t begin, int64_t end);
  void wait_until_done();

  std::mutex job_mutex_;  // held for the length of a job, and by resize
  std::atomic<int> n_threads_;
  std::vector<std::thread> workers_;
  std::chrono::steady_clock::time_point alone_until_{};
  std::atomic<bool> stop_{false};

  std::atomic<const FunctionRef<void(int64_t)>*> tile_{nullptr};
  std::atomic<int64_t> n_tiles_{0};
  std::atomic<int64_t> chunk_{1};
  std::atomic<int64_t> first_failed_{0};
  std::atomic<int> avoided_cpu_{-1};  // the caller's, for a job that is not long
  Failure failure_;

  alignas(64) std::atomic<uint64_t> ticket_{0};     // job << 32 | chunks not yet taken
  alignas(64) std::atomic<uint32_t> wake_word_{0};  // a new value with every job
  std::atomic<int> sleepers_{0};
  alignas(64) std::atomic<uint32_t> unfinished_{0};  // chunks not yet done
  std::atomic<bool> caller_sleeps_{false};
};

}  // namespace thalweg
