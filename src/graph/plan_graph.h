#pragma once

// A trace as passes see it: records that may be changed, left out or joined, over buffers that have
// no place yet.

#include <string>
#include <vector>

#include "graph/trace.h"

namespace thalweg {

struct PlanBuffer {
  enum class Kind : uint8_t {
    external,  // someone else's, always the same
    argument,  // of the call
    constant,  // never written
    gradient,  // of a leaf; stays after the call
    result,    // made anew for each call
    temporary  // lives within the call
  };
  Kind kind = Kind::temporary;
  uint32_t index = kNoIndex;  // of the argument or the gradient
  size_t bytes = 0;
  Device device;
  IntrusivePtr<Storage> storage;  // external, constant
};

/// The bytes of an attribute struct.
class AttrBytes {
 public:
  AttrBytes() = default;
  AttrBytes(const void* attrs, size_t bytes);
  std::byte* data() { return reinterpret_cast<std::byte*>(units_.data()); }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(units_.data()); }

 private:
  std::vector<std::max_align_t> units_;
};

struct FusedBody;
struct ProductTail;

struct PlanRecord {
  TraceStep::Kind kind = TraceStep::Kind::kernel;
  const Op* op = nullptr;
  Kernel kernel;
  AttrBytes attrs;
  std::vector<TraceOperand> inputs, outputs;
  uint32_t draw = kNoIndex;  // see TraceStep
  uint64_t blocks = 0;
  HostWork host;
  std::vector<uint32_t> gradients;          // backward: those it wrote
  std::shared_ptr<const FusedBody> body;    // of a fused record
  std::shared_ptr<const ProductTail> tail;  // of a product that goes on
  uint32_t origin = kNoIndex;               // the step of the trace whose outputs it computes
  uint32_t stands_for = 0;                  // so many more that computed the same
  bool is_again = false;                    // it ran before, and what it made was given up
};

struct PlanGraph {
  std::vector<PlanBuffer> buffers;
  std::vector<PlanRecord> records;
  std::vector<TraceGradient> gradients;
  std::vector<TraceResult> results;
  std::vector<IntrusivePtr<TensorImpl>> externals;
  std::vector<std::string> notes;  // what passes did, a line each
};

PlanGraph graph_of(const Trace& trace);

/// "copy": the bytes of a buffer, whatever they are.
const Op& copy_buffer_op();

/// First and last record that touch a buffer; first > last if none does. Results and gradients live
/// to the end.
struct Lifetime {
  uint32_t first = kNoIndex;
  uint32_t last = 0;
};
std::vector<Lifetime> lifetimes(const PlanGraph& graph);

/// How many records write each buffer.
std::vector<uint32_t> writer_counts(const PlanGraph& graph);

/// True if the record writes all of a temporary buffer, which no other record writes and which it
/// does not read: its one output is a value that may be had in another way.
bool makes_value(const PlanGraph& graph, const PlanRecord& record,
                 const std::vector<uint32_t>& writers);

/// True for one that may throw for what elements are: an index out of range.
bool checks_elements(const PlanRecord& record);

}  // namespace thalweg
