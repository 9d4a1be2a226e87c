#pragma once

// A small run that tests train, stop, kill and go on with: data that can be learned in random
// order, a net with dropout, momentum, a schedule and an average of weights.

#include <functional>
#include <string>

#include <thalweg/train/session.h>

namespace thalweg::train {

struct SmallRunOptions {
  int64_t epochs = 3;
  int workers = 0;
  bool from_source = false;  // the training data come from a minibatch source
  double learning_rate = 0.05;
  std::optional<double> clip_norm = 5;
  std::function<void(SessionOptions&)> change = {};
};

/// Everything that a session needs, made anew as a new process would.
class SmallRun {
 public:
  explicit SmallRun(const SmallRunOptions& options = {});
  ~SmallRun();

  Session& session();
  Trainer& trainer();
  nn::Module& net();

  /// Starts in a new folder below `runs`, or goes on in `folder` if there is one; then runs.
  SessionResult start(const std::string& runs);
  SessionResult go_on(const std::string& folder);

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

/// The one folder below `runs`; "" if there is none.
std::string only_folder(const std::string& runs);

}  // namespace thalweg::train
