#pragma once

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/call.h>

namespace thalweg::nn {

/// Lets a recorder know of every op of this thread while it lives; layers act as in prediction.
class RecorderScope {
 public:
  explicit RecorderScope(Recorder& recorder) { thread_mode().recorder = &recorder; }
  ~RecorderScope() { thread_mode().recorder = nullptr; }
  RecorderScope(const RecorderScope&) = delete;
  RecorderScope& operator=(const RecorderScope&) = delete;

 private:
  Pause pause_;
};

}  // namespace thalweg::nn
