#pragma once

#include <thalweg/base/export.h>

namespace thalweg {

/// While one lives, the first SIGINT, SIGTERM or SIGHUP only asks the program to stop. A second
/// SIGINT or SIGTERM has its former effect, so that a program which does not come to its end can be
/// ended; SIGHUP, which both the kernel and the shell of a closed terminal send, never ends it, and
/// where it is ignored (nohup) it stays so. Several at a time, in any threads, see the same
/// request.
class THALWEG_API StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// The signal that asked, 0 if none did. As cheap as a load.
  int signal() const noexcept;
  explicit operator bool() const noexcept { return signal() != 0; }
};

}  // namespace thalweg
