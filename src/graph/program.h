#pragma once

// A plan that runs: kernels with operands that have their place, one after the other.

#include <string>
#include <vector>

#include "graph/memory_plan.h"
#include "graph/plan_graph.h"

namespace thalweg {

class LaunchGraphs;
class Profiler;

class Program {
 public:
  explicit Program(PlanGraph graph);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Why it cannot run as things are: a parameter that was replaced, frozen, ...; null if it can.
  const char* refusal(std::span<const TensorImpl* const> arguments) const;
  /// Runs it. Throws what a kernel or the host's work throws.
  void replay(std::span<const TensorImpl* const> arguments, std::span<Tensor> results);
  /// The handles that `trace` keeps are no sign that a tensor is still in use.
  void discount(const Trace& trace);

  // A replay in parts beside a call of the function itself, which does what is not a kernel: the
  // host's work, draws, counts of passes and versions.
  /// Records before the one that stands for a step of the trace; kNoIndex: all.
  size_t records_before(uint32_t trace_step) const;
  void begin_beside(std::span<const TensorImpl* const> arguments);
  /// A gradient or a result lies there.
  void place_beside(uint32_t buffer, void* data);
  void put_draw(uint32_t draw, RandomState first);
  /// The buffers of someone else that the records [begin, end) write.
  std::vector<uint32_t> written(size_t begin, size_t end) const;
  /// Records from `at` on, which is moved. Throws what a kernel throws; `at` is its record.
  void run_beside(size_t& at, size_t end);

  /// What the program changes besides results and gradients, as it is now.
  std::vector<Tensor> state(std::span<const TensorImpl* const> arguments) const;
  /// Replays the call that was just traced, with captured outputs, from the state before it,
  /// without the host's work; what a record computed otherwise, or "". The state is the traced
  /// call's again in the end.
  std::string compare(const Trace& trace, std::span<const TensorImpl* const> arguments,
                      const std::vector<Tensor>& before, RandomState random);

  /// From now on replays note how long each record takes.
  void measure() { seconds_.assign(steps_.size(), 0); }
  /// Of all measured replays, for each record; empty without measure().
  std::span<const double> seconds() const { return seconds_; }
  int64_t measured() const { return measured_; }

  size_t result_count() const { return graph_.results.size(); }
  /// On an accelerator, unless a graph cannot hold the records.
  bool launches_graphs() const { return launch_graphs_ != nullptr; }
  const PlanGraph& graph() const { return graph_; }
  const MemoryPlan& memory() const { return memory_; }

 private:
  /// A buffer whose memory is another from call to call; its operands follow.
  struct Slot {
    uint32_t buffer;
    IntrusivePtr<Storage> view;  // borrowed; shows where it is now
    std::vector<TensorImpl*> operands;
    IntrusivePtr<Storage> made;   // results: the memory of this call
    uint64_t bound = 0;           // gradients: the id of the memory
    bool written = false;         // arguments: by the program
    IntrusivePtr<Storage> fixed;  // arguments and results: where launch graphs have them

    void show(void* data);
  };
  struct Step {
    void (*run)(const KernelContext&);  // null: not a kernel
    KernelContext context;
    uint32_t record;
    uint32_t first_bump, bumps;  // the external storages that it writes
  };

  void place_buffers();
  void add_step(uint32_t record);
  TensorImpl* operand(const TraceOperand& operand);
  void bind_arguments(std::span<const TensorImpl* const> arguments, bool bumps);
  void bind_gradient(Slot& slot);
  void bind_results();
  void give_results(std::span<const TensorImpl* const> arguments, std::span<Tensor> results);
  std::vector<Storage*> changed(std::span<const TensorImpl* const> arguments) const;
  std::string compare_steps(const Trace& trace);
  void run_steps();
  void run_steps_measured();
  // Where an accelerator is: see graph/launch_graphs.h.
  void make_launch_graphs();
  void run_launch_graphs();
  void fix_places();
  void leave_fixed_places();
  void run_steps_profiled(Profiler& profiler);
  size_t run_step(size_t step);
  size_t run_other(size_t step);
  void run_draw(const PlanRecord& record);
  void run_backward(const PlanRecord& record) const;

  PlanGraph graph_;
  MemoryPlan memory_;
  IntrusivePtr<Storage> arena_;
  std::vector<IntrusivePtr<Storage>> storages_;  // of each buffer
  std::vector<uint32_t> slot_of_;                // of each buffer
  std::vector<Slot> argument_slots_, gradient_slots_, result_slots_;
  std::vector<IntrusivePtr<TensorImpl>> operands_;
  std::vector<std::vector<TensorImpl*>> operands_of_;  // of each buffer
  std::vector<const TensorImpl*> inputs_;
  std::vector<TensorImpl*> outputs_;
  std::vector<Step> steps_;
  std::vector<Storage*> bumps_;
  std::unique_ptr<LaunchGraphs> launch_graphs_;  // null on the cpu
  size_t launch_note_ = 0;                       // among the graph's notes
  std::vector<const void*> gradient_places_;
  std::vector<double> seconds_;
  int64_t measured_ = 0;
  std::vector<uint64_t> written_externals_;  // ids
  struct Guard {                             // of an external tensor
    uint64_t storage;
    GradReq req;
    uint32_t handles;  // of plan and trace
  };
  std::vector<Guard> guards_;
  std::vector<std::vector<std::byte*>> draw_seeds_, draw_offsets_;  // of each draw, in attributes
};

Tensor bytes_of(const Storage& storage);
void put_bytes(Storage& storage, const Tensor& bytes);

}  // namespace thalweg
