#pragma once

#include <thalweg/base/export.h>

namespace thalweg {

/// While one lives, the first SIGINT or SIGTERM only asks the program to stop; the second has its
/// former effect, so that a program which does not come to its end can be ended. Several at a time,
/// in any threads, see the same request.
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
