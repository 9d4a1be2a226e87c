#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>

#include <thalweg/base/signal.h>

namespace thalweg {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

std::mutex mutex;  // guards n_alive and who installs
int n_alive = 0;

// What the handler touches. It is installed after former is complete.
struct sigaction former[2];
std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not lock");

void restore() {
  for (int i = 0; i < 2; ++i) ::sigaction(kSignals[i], &former[i], nullptr);
}

void on_signal(int signal) {
  const int error = errno;
  received.store(signal);
  restore();
  errno = error;
}

void install() {
  received.store(0);
  for (int i = 0; i < 2; ++i) ::sigaction(kSignals[i], nullptr, &former[i]);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // files being read or written do not notice
  ::sigemptyset(&action.sa_mask);
  for (int signal : kSignals) ::sigaction(signal, &action, nullptr);
}

}  // namespace

StopRequest::StopRequest() {
  std::lock_guard lock(mutex);
  if (n_alive++ == 0) install();
}

StopRequest::~StopRequest() {
  std::lock_guard lock(mutex);
  if (--n_alive == 0 && received.load() == 0) restore();
}

int StopRequest::signal() const noexcept { return received.load(std::memory_order_relaxed); }

}  // namespace thalweg
