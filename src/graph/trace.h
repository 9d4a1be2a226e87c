#pragma once

// What one call of a function did, as far as elements are concerned: the kernels that ran, with
// their operands, and the host's work between them. Views are not in it: an operand says where in
// its buffer it lies.

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/call_tracer.h"

namespace thalweg {

inline constexpr uint32_t kNoIndex = ~uint32_t{0};

/// Memory that operands lie in.
struct TraceBuffer {
  enum class Kind : uint8_t {
    external,  // was there before, and belongs to someone else
    argument,  // of one of the function's arguments
    born       // made by the function
  };
  Kind kind = Kind::born;
  bool alive = true;     // not yet freed, or kept by someone after the end
  bool written = false;  // by a kernel
  bool fixed = false;    // born: its elements follow from what the host had put somewhere alone
  uint32_t argument = kNoIndex;
  uint64_t id = 0;
  size_t bytes = 0;
  Device device;
  IntrusivePtr<Storage> storage;  // external: the memory
  IntrusivePtr<Storage> content;  // born: the elements that the host had put there, if it had
};

struct TraceOperand {
  uint32_t buffer = kNoIndex;  // kNoIndex: an absent optional input
  TensorMeta meta;             // of an argument: the offset counts from the argument's
};

struct TraceStep {
  enum class Kind : uint8_t { kernel, draw, host, end_host, backward };
  Kind kind = Kind::kernel;
  uint16_t inputs = 0;
  uint16_t outputs = 0;
  uint32_t first_operand = 0;  // inputs, then outputs; backward: position in the list of leaves
  uint32_t attrs = 0;          // position in the trace's attribute bytes
  uint32_t draw = kNoIndex;    // kernel: the draw whose numbers the attributes name
  const Op* op = nullptr;
  Kernel kernel;
  HostWork host;
  uint64_t blocks = 0;  // draw
};

/// A leaf whose gradient was written, and where that is after the call.
struct TraceGradient {
  IntrusivePtr<TensorImpl> leaf;
  TraceOperand value;
};

/// A tensor that the function gave back.
struct TraceResult {
  enum class Kind : uint8_t { undefined, argument, tensor, gradient, buffer };
  Kind kind = Kind::undefined;
  uint32_t index = 0;               // of the argument or gradient that it is
  IntrusivePtr<TensorImpl> tensor;  // one that was there before
  TraceOperand value;
};

class Trace final : public CallTracer, private HostObserver, private Storage::Watcher {
 public:
  /// Traces the calling thread from now on.
  explicit Trace(std::span<const TensorImpl* const> arguments);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// The function has returned these tensors, to which the caller holds no other handles.
  void finish(std::span<const Tensor> results);

  void run(const Kernel& kernel, const KernelContext& context) override;
  void drew(RandomState first, uint64_t blocks) override;
  void host(const HostWork& work) override;
  void end_host() override;
  void refuse(std::string reason) override;
  void begin_backward() override;
  void wrote_gradient(TensorImpl& leaf) override;
  void walks(uint64_t segment_serial) override;
  /// From now on what kernels compute is kept.
  void capture() { captures_ = true; }
  /// The outputs of a kernel step, row-major copies from just after it ran; empty without
  /// capture().
  std::span<const Tensor> captured(size_t step) const {
    return step < captured_.size() ? std::span<const Tensor>(captured_[step])
                                   : std::span<const Tensor>();
  }

  /// Why it cannot be replayed; empty if it can.
  const std::string& refusal() const { return refusal_; }
  /// True if the host's work left out what follows it, such as an update with gradients that are
  /// not finite: no other call is like this one.
  bool leaves_work_out() const;
  std::span<const TraceBuffer> buffers() const { return buffers_; }
  std::span<const TraceStep> steps() const { return steps_; }
  std::span<const TraceOperand> inputs(const TraceStep& s) const {
    return {operands_.data() + s.first_operand, s.inputs};
  }
  std::span<const TraceOperand> outputs(const TraceStep& s) const {
    return {operands_.data() + s.first_operand + s.inputs, s.outputs};
  }
  const std::byte* attrs(const TraceStep& s) const {
    return reinterpret_cast<const std::byte*>(attr_bytes_.data() + s.attrs);
  }
  /// The leaves of a backward step.
  std::span<const IntrusivePtr<TensorImpl>> leaves(const TraceStep& s) const {
    return {leaves_.data() + s.first_operand, s.inputs};
  }
  std::span<const TraceGradient> gradients() const { return gradients_; }
  std::span<const TraceResult> results() const { return results_; }
  /// Tensors on external memory that others hold: parameters, states, whatever was captured.
  std::span<const IntrusivePtr<TensorImpl>> externals() const { return externals_; }

 private:
  void host_access(const TensorImpl& tensor, const char* operation) override;
  void ended(const Storage& storage) noexcept override;

  uint32_t buffer_of(const TensorImpl& tensor, bool needs_content);
  TraceOperand place(const TensorImpl& tensor, bool needs_content);
  TraceOperand operand(const TensorImpl& tensor, bool needs_content);
  /// Keeps a tensor on memory that was there before.
  void note_external(const TensorImpl& tensor);
  void match_draw(TraceStep& step, const void* attrs) const;
  void collect_gradients();
  void drop_unshared(std::span<const Tensor> results);
  void collect_result(const Tensor& result);
  void check_result_owners(std::span<const Tensor> results);
  bool is_gradient(const Storage& storage) const;
  void check_escapes();
  void check_histories();

  struct Draw {
    RandomState first;
    uint64_t blocks;
  };

  bool captures_ = false;
  uint64_t first_id_;
  uint64_t first_serial_;
  RandomState first_random_;
  std::string refusal_;
  std::vector<const TensorImpl*> arguments_;
  std::vector<TensorMeta> argument_metas_;
  std::vector<TraceBuffer> buffers_;
  std::unordered_map<uint64_t, uint32_t> by_id_;
  std::vector<TraceStep> steps_;
  std::vector<TraceOperand> operands_;
  std::vector<std::vector<Tensor>> captured_;  // of each step
  std::vector<std::max_align_t> attr_bytes_;
  std::vector<Draw> draws_;
  std::vector<IntrusivePtr<TensorImpl>> leaves_;
  std::vector<IntrusivePtr<TensorImpl>> externals_;
  std::unordered_set<const TensorImpl*> seen_externals_;
  std::vector<TraceGradient> gradients_;
  std::vector<TraceResult> results_;
  std::unordered_map<const TensorImpl*, uint32_t> own_;  // handles of the trace and of results
  CallScope scope_;
};

/// The first thing in which two traces differ that a replay would get wrong; empty if there is
/// none.
std::string difference(const Trace& a, const Trace& b);

/// True if two storages of as many bytes, on one device, have the same.
bool same_bytes(const Storage& a, const Storage& b);

/// Where the seed and the offset of a random op are in its attributes; null for other ops.
struct RandomFields {
  const AttrField* seed = nullptr;
  const AttrField* offset = nullptr;
};
RandomFields random_fields(const Op& op);

/// The elements of a tensor in memory of their own; not traced or recorded.
Tensor row_major_copy(const TensorImpl& tensor);

}  // namespace thalweg
