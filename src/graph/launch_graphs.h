#pragma once

// The steps of a program that an accelerator gets as one launch, not one after the other: runs of
// kernels on one device with nothing of the host's between them.

#include <string>
#include <utility>
#include <vector>

#include "device/launch_graph.h"
#include "graph/plan_graph.h"

namespace thalweg {

class LaunchGraphs {
 public:
  struct Step {
    void (*run)(const KernelContext&);  // null: not a kernel
    const KernelContext* context;
    const PlanRecord* record;
  };
  using Capture = std::unique_ptr<LaunchGraph> (*)(Device device, FunctionRef<void()> work);

  explicit LaunchGraphs(std::vector<Step> steps, Capture capture = capture_launches);

  /// True if there is something to capture, or captured.
  bool any() const { return reason_.empty(); }
  /// The device of the first graph.
  Device device() const { return device_; }
  /// Before the steps of a replay: `places` is where memory that may be elsewhere in the next call
  /// is now. Graphs that were captured with other places are dropped.
  void begin(const std::vector<const void*>& places);
  /// Launches the graph that begins at step `i`; the number of the step after it, or `i` where the
  /// step is to be run by itself: no graph begins there, or it is not captured yet. That happens
  /// in the second replay, when every kernel has been compiled and has its memory.
  size_t run(size_t i);
  /// True once after each change of what describe() says.
  bool take_change() { return std::exchange(changed_, false); }
  /// What was captured, or why not.
  std::string describe() const;

 private:
  /// An operand in the host's memory, such as the numbers of an update, and its copy.
  struct Mirror {
    const TensorImpl* host;
    IntrusivePtr<TensorImpl> copy;
  };
  struct Segment {
    size_t begin, end;
    std::vector<Mirror> mirrors;
    std::unique_ptr<LaunchGraph> graph;
  };

  static const char* why_not(const Step& step);
  void find_segments();
  void mirror_operands(Segment& segment) const;
  void launch_steps(const Segment& segment) const;
  void capture(Segment& segment);

  const std::vector<Step> steps_;
  const Capture capture_;
  Device device_;
  std::vector<Segment> segments_;
  std::vector<size_t> segment_at_;  // of the step that it begins with, else the number of segments
  std::vector<const void*> places_;
  int replays_ = 0;
  int moves_ = 0;
  bool changed_ = true;
  std::string reason_;  // why there is nothing to capture (any more)
};

}  // namespace thalweg
