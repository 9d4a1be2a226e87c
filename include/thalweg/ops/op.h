#pragma once

// The op table. An op is one row; argument checks, tape, backward, traces, files, documentation and
// the generated tests read the row, and none keeps a list of its own.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <thalweg/ops/attrs.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {

struct Op;

/// Which tensors of the forward call the gradient of one input is made from: bit i for input i and
/// for output i. Only these are kept for backward.
struct Saves {
  uint16_t inputs = 0;
  uint16_t outputs = 0;
};

struct OpFlags {
  bool pointwise = false;  // element i of the output depends on element i of the inputs only
  bool view = false;       // the output shares input 0's storage; no kernel runs
  bool random = false;     // draws numbers; two calls differ
  bool reduces = false;    // folds axes away
  bool in_place = false;   // may write its output over input 0
  bool transfer = false;   // moves elements between devices; its reference does it for all of them
  bool internal = false;   // made by other rows; not in documents or bindings
};

/// An op's view of its arguments while the outputs' metas are inferred. Absent optional inputs are
/// null.
class InferContext {
 public:
  InferContext(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs,
               std::span<TensorImpl* const> outputs)
      : op_(op), attrs_(attrs), inputs_(inputs), outputs_(outputs) {}

  const Op& op() const { return op_; }
  size_t inputs() const { return inputs_.size(); }
  size_t outputs() const { return outputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  const TensorMeta& in(size_t i) const { return inputs_[i]->meta; }
  bool in_row_major(size_t i) const { return inputs_[i]->row_major; }
  TensorMeta& out(size_t i = 0) const { return outputs_[i]->meta; }
  template <typename A>
  const A& attrs() const {
    return *static_cast<const A*>(attrs_);
  }

 private:
  const Op& op_;
  const void* attrs_;
  std::span<const TensorImpl* const> inputs_;
  std::span<TensorImpl* const> outputs_;
};

/// A kernel's view of its arguments: inputs are checked, outputs have their memory.
class KernelContext {
 public:
  KernelContext(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs,
                std::span<TensorImpl* const> outputs)
      : op_(op), attrs_(attrs), inputs_(inputs), outputs_(outputs) {}

  const Op& op() const { return op_; }
  size_t inputs() const { return inputs_.size(); }
  size_t outputs() const { return outputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  const TensorImpl& in(size_t i) const { return *inputs_[i]; }
  TensorImpl& out(size_t i = 0) const { return *outputs_[i]; }
  const void* raw_attrs() const { return attrs_; }
  /// The same arguments without the inputs from `n` on, which are absent optional ones.
  KernelContext with_inputs(size_t n) const { return {op_, attrs_, inputs_.first(n), outputs_}; }
  template <typename A>
  const A& attrs() const {
    return *static_cast<const A*>(attrs_);
  }

 private:
  const Op& op_;
  const void* attrs_;
  std::span<const TensorImpl* const> inputs_;
  std::span<TensorImpl* const> outputs_;
};

/// One implementation of an op on one kind of device. `refuse` gives the reason why it cannot run
/// these arguments, or null; without it the kernel takes everything. Kernels do not throw, but for
/// what only the elements tell: an index out of range.
struct Kernel {
  const char* name = nullptr;
  const char* (*refuse)(const KernelContext&) = nullptr;
  void (*run)(const KernelContext&) = nullptr;
};

/// Kernels of an op on one kind of device, fastest first.
class KernelList {
 public:
  static constexpr size_t kCapacity = 6;
  std::span<const Kernel> all() const { return {kernels_.data(), count_}; }
  void add(const Kernel& kernel);

 private:
  std::array<Kernel, kCapacity> kernels_ = {};
  size_t count_ = 0;
};

class VjpContext;
class Samples;

/// A row of the table.
struct Op {
  static constexpr uint8_t kVariableOutputs = 0;
  static constexpr size_t kMaxSaves = 8;

  const char* name;
  const char* doc;     // one sentence
  const char* inputs;  // "x, weight, bias?"; '?' marks an optional input, "tensors..." any number
  const AttrInfo& (*attrs)() = attr_info<NoAttrs>;
  OpFlags flags = {};
  uint8_t outputs = 1;
  size_t (*output_count)(const void* attrs) = nullptr;  // for kVariableOutputs
  void (*infer)(const InferContext&);
  /// Writes the gradients of the inputs in terms of ops. Null: not differentiable, see no_gradient.
  void (*vjp)(VjpContext&) = nullptr;
  const char* no_gradient = nullptr;  // the reason shown when it is differentiated all the same
  std::array<Saves, kMaxSaves> saves = {};  // per input; a "tensors..." op has one for all, first
  /// Plain loops, any dtype the op has; the last resort on the cpu and what fast kernels are held
  /// against. Null for views.
  void (*reference)(const KernelContext&) = nullptr;
  void (*samples)(Samples&) = nullptr;

  mutable KernelList kernels[kDeviceKinds] = {};
};

/// All rows, in the order of their families.
THALWEG_API std::span<const Op* const> all_ops();
/// The row of that name. Throws Error{invalid} with the nearest name when there is none.
THALWEG_API const Op& find_op(std::string_view name);

}  // namespace thalweg
