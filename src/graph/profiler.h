#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/graph/profile.h>
#include <thalweg/ops/call.h>

namespace thalweg {

struct FusedBody;

/// Times kernels. It is the thread's tracer, so that nothing is looked at without one.
class Profiler final : public Tracer {
 public:
  explicit Profiler(const ProfileOptions& options) : options_(options) {}

  struct Event {
    uint32_t entry;  // kNoEntry: a scope
    bool planned;
    const char* scope;
    int64_t start, nanoseconds;  // since the profiler was made
    int64_t operations, bytes;
    size_t live;  // bytes after it
  };
  static constexpr uint32_t kNoEntry = ~uint32_t{0};

  void run(const Kernel& kernel, const KernelContext& context) override;
  /// A kernel of a plan; `body` is that of a fused one, or null.
  void run_planned(const Kernel& kernel, const KernelContext& context, const FusedBody* body);
  void drew(RandomState, uint64_t) override {}
  void host(const HostWork&) override {}
  void end_host() override {}
  void refuse(std::string) override {}

  void add_scope(const char* name, int64_t start, int64_t nanoseconds);
  int64_t now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() -
                                                                start_)
        .count();
  }

  void end() { end_ = now(); }
  int64_t nanoseconds() const { return end_ >= 0 ? end_ : now(); }
  const std::vector<ProfileEntry>& entries() const { return entries_; }
  const std::vector<Event>& events() const { return events_; }
  int64_t left_out() const { return left_out_; }
  size_t peak_memory() const { return peak_memory_; }

 private:
  void timed(const Kernel& kernel, const KernelContext& context, const FusedBody* body,
             bool planned);
  uint32_t entry_of(std::string_view op, std::string_view kernel);
  void keep(const Event& event);

  const ProfileOptions options_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int64_t end_ = -1;
  std::map<std::pair<std::string_view, std::string_view>, uint32_t> known_;  // by content
  std::vector<std::unique_ptr<std::string>> names_;
  std::vector<ProfileEntry> entries_;
  std::vector<Event> events_;
  int64_t left_out_ = 0;
  size_t peak_memory_ = 0;
};

/// The calling thread's, if it is the tracer now; else null.
Profiler* active_profiler();

/// Replaces the calling thread's, null for none.
void set_profiler(Profiler* profiler);

/// The text of write_trace().
std::string trace_json(const Profiler& profiler);

}  // namespace thalweg
