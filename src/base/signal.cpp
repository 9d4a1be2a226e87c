#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>

#include <thalweg/base/signal.h>

namespace thalweg {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int kHangup = 2;

std::mutex mutex;  // guards n_alive and who installs
int n_alive = 0;

// What the handler touches. It is installed after former is complete.
struct sigaction former[3];
std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not lock");

void restore(int i) { ::sigaction(kSignals[i], &former[i], nullptr); }
void restore_those_that_end() {
  for (int i = 0; i < kHangup; ++i) restore(i);
}

void on_signal(int signal) {
  const int error = errno;
  int none = 0;
  received.compare_exchange_strong(none, signal);
  restore_those_that_end();
  errno = error;
}

void install() {
  received.store(0);
  for (int i = 0; i < 3; ++i) ::sigaction(kSignals[i], nullptr, &former[i]);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // files being read or written do not notice
  ::sigemptyset(&action.sa_mask);
  for (int i = 0; i < 3; ++i) {
    if (i == kHangup && former[i].sa_handler == SIG_IGN) continue;
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

}  // namespace

StopRequest::StopRequest() {
  std::lock_guard lock(mutex);
  if (n_alive++ == 0) install();
}

StopRequest::~StopRequest() {
  std::lock_guard lock(mutex);
  if (--n_alive > 0) return;
  restore(kHangup);
  if (received.load() == 0) restore_those_that_end();
}

int StopRequest::signal() const noexcept { return received.load(std::memory_order_relaxed); }

}  // namespace thalweg
