#pragma once

// Where the time of ops goes.
//
//   tw::Profile profile;                          // of this thread, from now on
//   { tw::ProfileScope epoch("epoch 1"); train(); }
//   profile.stop();
//   profile.write_trace("profile.json");          // for chrome://tracing or ui.perfetto.dev
//   std::cout << profile.table();
//
// Ops that run one by one and replayed plans are timed alike, kernel by kernel. Without a Profile
// nothing is looked at.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <thalweg/base/export.h>

namespace thalweg {

struct ProfileOptions {
  /// So many kernels and scopes are kept for the trace; the table counts those beyond, too.
  int64_t events = 200'000;
};

/// All calls of one op by one kernel.
struct ProfileEntry {
  std::string op;
  std::string kernel;
  int64_t calls = 0;
  double seconds = 0;
  int64_t operations = 0;  ///< see nn::NetSummary
  int64_t bytes = 0;       ///< of inputs and outputs
};

/// What this machine can do at most, as measured.
struct MachinePeak {
  double flops = 0;  ///< a second, in f32
  double bytes = 0;  ///< a second, read and written, in blocks larger than the caches
};

/// Measures, for about a tenth of a second, with as many threads as kernels use: the best rate of a
/// product of two f32 matrices [512, 512], and of copying 64 MiB.
THALWEG_API MachinePeak measure_peak();

/// Times the ops of the calling thread from when it is made until stop() or its end. One at a time:
/// throws Error{invalid} where the thread has one, or is being traced.
class THALWEG_API Profile {
 public:
  explicit Profile(const ProfileOptions& options = {});
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// On the thread that made it.
  void stop();

  double seconds() const;  ///< until stop(), or now
  /// The longest first.
  std::vector<ProfileEntry> entries() const;
  size_t peak_memory() const;  ///< most bytes of tensors that were live after a kernel, on the cpu

  /// A line for each entry: calls, time, GFLOP/s, GB/s, and the share of the machine's peak, of
  /// arithmetic or memory, whichever is nearer. Above 100 % where operands are in the caches.
  std::string table(const MachinePeak& peak) const;
  std::string table() const { return table(measure_peak()); }

  /// Chrome's trace format: kernels with their operations and bytes, scopes, and bytes of live
  /// tensors over time. Throws Error{io} if the file cannot be written.
  void write_trace(const std::string& path) const;

 private:
  std::unique_ptr<class Profiler> profiler_;
};

/// A named stretch of time in the trace of this thread's Profile; nothing without one. The name
/// lives as long as the Profile.
class THALWEG_API ProfileScope {
 public:
  explicit ProfileScope(const char* name);
  ~ProfileScope();
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;

 private:
  const char* name_;
  int64_t start_ = -1;
};

/// A stretch of so many seconds that ends now.
THALWEG_API void note_stretch(const char* name, double seconds);

}  // namespace thalweg
