#pragma once

// A call of a planned function that shows whether the function still does what was planned.
//
// The function's own code runs, and its kernels do not: each is held against the next step of the
// trace. Where all of them, and all that stays after the call, are as expected, the plan does the
// kernels' work, on the memory that the code's results and gradients have. At the first difference
// the kernels that were put off run as they are, and the call goes on as an eager one: its results
// are those of the eager call in any case.

#include <memory>
#include <string>
#include <vector>

#include <thalweg/base/clock.h>

#include "graph/program.h"

namespace thalweg {

class Verifier final : private CallTracer, private HostObserver, private Storage::Watcher {
 public:
  /// Both outlive it.
  Verifier(const Trace& trace, Program& program);
  ~Verifier() override;
  Verifier(const Verifier&) = delete;
  Verifier& operator=(const Verifier&) = delete;

  /// Sees what the thread does from now on, until end().
  void begin(std::span<const TensorImpl* const> arguments);
  /// The function has returned these tensors, to which the caller holds no other handles. What was
  /// put off happens. Throws what a kernel throws.
  void finish(std::span<const Tensor> results);
  /// The function has thrown. What it did before happens; throws what a kernel of that throws.
  void abandon();
  void end() noexcept;

  /// What the call did otherwise than planned; empty if nothing.
  const std::string& difference() const { return difference_; }
  /// True if the difference is that the host's work left out what follows it, such as an update
  /// with gradients that are not finite: no other call is like this one.
  bool left_out() const { return left_out_; }
  /// True if the plan did the call's work.
  bool replayed() const { return mode_ == Mode::deferring; }
  /// Seconds that the plan took.
  double plan_seconds() const { return plan_seconds_; }

 private:
  enum class Mode : uint8_t {
    deferring,  // as planned so far; kernels are put off
    following,  // as planned so far; kernels run
    passing     // kernels run
  };
  /// A buffer of the trace as it is in this call.
  struct Seen {
    Storage* storage;  // null: gone
    uint64_t id;
  };
  /// The buffers of ids; a small table without a heap.
  class Ids {
   public:
    explicit Ids(size_t most);
    void clear();
    uint32_t find(uint64_t id) const;
    void add(uint64_t id, uint32_t buffer);

   private:
    struct Place {
      uint64_t id = 0;
      uint32_t buffer = kNoIndex;
    };
    size_t first(uint64_t id) const { return (id * 0x9e3779b97f4a7c15u) >> shift_; }

    std::vector<Place> places_;
    int shift_;
  };
  /// The host's work of a step: the plan's part before it.
  struct HostStep {
    size_t records = 0;             // of the program
    std::vector<uint32_t> written;  // someone else's buffers, by those after the last host step
    bool can_replay = false;        // they need nothing that comes later
    bool repeats = false;           // the same work, whose effect a kernel may need, came before
  };
  /// Memory as it was before the plan changed it.
  struct Saved {
    Storage* storage;
    Tensor bytes;
  };
  struct OldGradient {
    bool defined = false;
    TensorMeta meta;
    IntrusivePtr<Storage> storage;  // null: the leaf's again
  };

  void run(const Kernel& kernel, const KernelContext& context) override;
  void drew(RandomState first, uint64_t blocks) override;
  void host(const HostWork& work) override;
  void end_host() override;
  void refuse(std::string reason) override;
  void begin_backward() override;
  void wrote_gradient(TensorImpl& leaf) override;
  void walks(uint64_t segment_serial) override;
  void host_access(const TensorImpl& tensor, const char* operation) override;
  void ended(const Storage& storage) noexcept override;

  void find_fixed_steps();
  void find_host_steps();
  void keep_gradients();
  const TraceStep* expect(TraceStep::Kind kind) const;
  bool matches(const Kernel& kernel, const KernelContext& context);
  bool same_attrs(const TraceStep& step, const void* attrs);
  bool is_at(const TraceOperand& expected, const TensorImpl& tensor);
  bool add_buffer(uint32_t buffer, Storage& storage);
  bool is_born(uint32_t buffer) const;
  bool fixed_now(uint32_t buffer) const;
  void differ(std::string what);
  void release(Mode then);
  void put_back();
  void run_late(bool only_fixed);
  void run_late_step(const TraceStep& step, std::span<const IntrusivePtr<Storage>> places);
  IntrusivePtr<TensorImpl> late_operand(const TraceOperand& operand,
                                        std::span<const IntrusivePtr<Storage>> places) const;
  IntrusivePtr<Storage> late_place(uint32_t buffer) const;
  const void* with_draw(const TraceStep& step);
  void give_gradients_back(size_t step) noexcept;
  void advance(size_t records);
  void save(std::span<const uint32_t> buffers);
  void keep_gradient_places();
  bool place_kept_buffers();
  bool ends_as_planned(std::span<const Tensor> results);
  bool leaves_match() const;
  bool gradients_match();
  bool result_matches(std::span<const Tensor> results, size_t i);
  bool is_alone(std::span<const Tensor> results, size_t i) const;
  bool nothing_escapes() const;
  bool random_matches() const;

  const Trace& trace_;
  Program& program_;
  CallScope scope_;
  // Of the trace.
  std::vector<uint8_t> fixed_step_;       // it follows from what the host had put somewhere alone
  std::vector<uint32_t> fixed_until_;     // of each buffer: the step before which it is fixed
  std::vector<uint32_t> last_use_;        // of each buffer: a step
  std::vector<uint32_t> first_backward_;  // of each gradient: a step
  std::vector<uint8_t> stays_;            // of each buffer: a gradient or a result
  std::vector<uint32_t> placed_;          // those of them that the program writes
  std::vector<HostStep> host_steps_;
  // Of the call.
  Mode mode_ = Mode::passing;
  bool left_out_ = false;
  bool after_host_ = false;       // the host's work came last
  bool differs_by_host_ = false;  // it did when the difference was found
  uint32_t next_ = 0;             // step
  size_t next_host_ = 0;          // of host_steps_
  size_t records_ = 0;            // that the program has run
  uint32_t fixed_ran_ = 0;        // fixed steps before it have run
  uint32_t backward_ = kNoIndex;  // the last backward step
  uint32_t leaf_ = 0;             // in its list
  const char* why_ = "";          // the last comparison failed
  uint64_t first_id_ = 0, first_serial_ = 0;
  RandomState first_random_;
  std::string difference_;
  std::vector<IntrusivePtr<TensorImpl>> arguments_;
  std::vector<const TensorImpl*> argument_pointers_;
  std::vector<TensorMeta> argument_metas_;
  std::vector<Seen> seen_;
  Ids ids_;
  std::vector<RandomState> draws_;
  std::vector<std::max_align_t> attrs_;  // of a random op, with the draw's numbers
  std::vector<Saved> saved_;
  std::vector<OldGradient> old_gradients_;
  double plan_seconds_ = 0;
};

}  // namespace thalweg
