// Ops trust their callers with some attributes, since the public functions check them. What comes
// from a file is checked here, and inference is then run on shapes alone.

#include <algorithm>
#include <string_view>

#include "base/fail.h"
#include "model/form.h"

namespace thalweg::model {
namespace {

struct Arity {
  size_t least = 0;
  size_t most = 0;
};

// Of a row's list, "x, weight, bias?" or "tensors...".
Arity arity_of(const Op& op) {
  Arity arity;
  std::string_view list = op.inputs;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view word = list.substr(0, comma);
    if (word.ends_with("...")) return {1, size_t{1} << 16};
    ++arity.most;
    if (!word.ends_with('?')) arity.least = arity.most;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return arity;
}

// The attributes that rows take as given.
class Attributes {
 public:
  Attributes(const Op& op, AttrBytes& attrs, std::span<const TensorImpl* const> inputs)
      : op_(op), attrs_(attrs), inputs_(inputs) {}

  void check() {
    for (const AttrField& field : op_.attrs().fields) {
      const std::string_view name = field.name;
      if (name == "axis" && field.type == AttrType::i64) check_axis(i64(field));
      if (name == "axes" && field.type == AttrType::dims) check_axes(dims(field));
    }
    const std::string_view op = op_.name;
    if (op == "reshape") check_reshape();
    if (op == "slice") check_slice();
    if (op == "matmul") check_matmul();
  }

 private:
  int64_t& i64(const AttrField& field) {
    return *reinterpret_cast<int64_t*>(attrs_.data() + field.offset);
  }
  const Dims& dims(const AttrField& field) {
    return *reinterpret_cast<const Dims*>(attrs_.data() + field.offset);
  }
  const AttrField& field(std::string_view name) const {
    for (const AttrField& f : op_.attrs().fields) {
      if (f.name == name) return f;
    }
    fail(ErrorKind::internal, "{}: no attribute {}", op_.name, name);
  }
  const Shape& x() const { return inputs_[0]->meta.shape; }

  void check_axis(int64_t& axis) {
    if (inputs_.empty() || !inputs_[0]) return;
    const auto count = static_cast<int64_t>(x().size());
    if (axis < -count || axis >= count)
      fail_invalid("{}: axis {} of shape {}", op_.name, axis, to_string(x()));
    if (axis < 0) axis += count;
  }

  void check_axes(const Dims& axes) {
    uint64_t seen = 0;
    for (const int64_t axis : axes) {
      const bool known = axis >= 0 && axis < static_cast<int64_t>(x().size());
      if (!known || (seen >> axis & 1))
        fail_invalid("{}: axes {} of shape {}", op_.name, to_string(axes), to_string(x()));
      seen |= uint64_t{1} << axis;
    }
    if (op_.flags.view && axes.size() != x().size())
      fail_invalid("{}: axes {} of shape {}", op_.name, to_string(axes), to_string(x()));
  }

  void check_reshape() {
    const Dims& wanted = dims(field("shape"));
    int64_t step = 1;  // of the first axis: must fit even where there are no elements
    bool fits = true, empty = false;
    for (const int64_t size : wanted) {
      fits = fits && size >= 0 && !__builtin_mul_overflow(step, std::max<int64_t>(size, 1), &step);
      empty = empty || size == 0;
    }
    if (!fits || (empty ? 0 : step) != inputs_[0]->count) {
      fail_invalid("reshape: {} elements of shape {} do not fill shape {}", inputs_[0]->count,
                   to_string(x()), to_string(wanted));
    }
  }

  void check_slice() {
    const int64_t size = x()[static_cast<size_t>(i64(field("axis")))];
    const int64_t start = i64(field("start")), count = i64(field("count"));
    const int64_t step = i64(field("step"));
    int64_t last = 0;
    const bool fits = start >= 0 && count >= 0 && count <= size && i64(field("size")) == size &&
                      !__builtin_mul_overflow(count - 1, step, &last) &&
                      !__builtin_add_overflow(last, start, &last) &&
                      (count == 0 || (start < size && last >= 0 && last < size)) && step != 0 &&
                      step >= -(int64_t{1} << 40) && step <= int64_t{1} << 40;
    if (!fits) {
      fail_invalid("slice: {} positions from {} on in steps of {}, of an axis of {}", count, start,
                   step, size);
    }
  }

  void check_matmul() {
    for (const TensorImpl* in : inputs_) {
      if (in->meta.shape.size() < 2)
        fail_invalid("matmul: shape {}; expected two dimensions at least",
                     to_string(in->meta.shape));
    }
  }

  const Op& op_;
  AttrBytes& attrs_;
  std::span<const TensorImpl* const> inputs_;
};

// Tensors without elements.
class Walk {
 public:
  Walk(const Form& form, int64_t n) : form_(form), n_(n) {
    for (const FormMeta& meta : form.inputs) add(meta, "inputs");
    for (const FormTensor& tensor : form.tensors) add(tensor.meta, "tensors");
  }

  void run(const FormRecord& r) {
    std::vector<const TensorImpl*> inputs;
    for (const int32_t in : r.inputs)
      inputs.push_back(in == kAbsent ? nullptr : values_[static_cast<size_t>(in)].get());
    check_arity(r, inputs);
    AttrBytes attrs = attrs_at(r, n_);
    Attributes(*r.op, attrs, inputs).check();
    std::vector<IntrusivePtr<TensorImpl>> held;
    std::vector<TensorImpl*> outputs;
    for (size_t i = 0; i < std::max<size_t>(r.outputs.size(), 1); ++i) {
      held.push_back(TensorImpl::create());
      outputs.push_back(held.back().get());
    }
    r.op->infer(InferContext(*r.op, attrs.data(), inputs, outputs));
    if (r.into != kAbsent) return check_meta(*held[0], meta_of(r.into), "into");
    for (size_t i = 0; i < held.size(); ++i) {
      check_meta(*held[i], r.metas[i], "outputs");
      finish(*held[i]);
      values_.push_back(std::move(held[i]));
    }
  }

 private:
  void add(const FormMeta& meta, const char* list) {
    IntrusivePtr<TensorImpl> impl = TensorImpl::create();
    impl->meta.dtype = meta.dtype;
    impl->meta.set_row_major(shape_at(meta.shape, n_, list));
    finish(*impl);
    values_.push_back(std::move(impl));
  }

  // What allocate() would derive, once it is known that there could be so many bytes.
  static void finish(TensorImpl& impl) {
    const TensorMeta::Extent extent = impl.meta.extent();
    constexpr int64_t kMost = int64_t{1} << 46;
    if (!extent.fits || extent.count > kMost)
      fail_invalid("a tensor of shape {} has too many elements", to_string(impl.meta.shape));
    impl.count = extent.count;
    impl.row_major = extent.row_major;
  }

  FormMeta meta_of(int32_t value) const {
    return form_.tensors[static_cast<size_t>(value) - form_.inputs.size()].meta;
  }

  void check_arity(const FormRecord& r, const std::vector<const TensorImpl*>& inputs) const {
    const Arity arity = arity_of(*r.op);
    bool fits = inputs.size() >= arity.least && inputs.size() <= arity.most;
    for (size_t i = 0; i < inputs.size() && fits; ++i) fits = inputs[i] || optional(*r.op, i);
    if (!fits)
      fail_invalid("{}: {} inputs; it takes ({})", r.op->name, inputs.size(), r.op->inputs);
    size_t outputs = r.op->outputs;
    if (outputs == Op::kVariableOutputs) {
      const AttrBytes attrs = attrs_at(r, n_);
      outputs = r.op->output_count(attrs.data());
    }
    const size_t found = r.into == kAbsent ? r.outputs.size() : 1;
    if (outputs != found) fail_invalid("{}: {} outputs; it gives {}", r.op->name, found, outputs);
  }

  static bool optional(const Op& op, size_t i) {
    std::string_view list = op.inputs;
    for (; i > 0; --i) list.remove_prefix(std::min(list.find(',') + 1, list.size()));
    return list.substr(0, list.find(',')).ends_with('?');
  }

  void check_meta(const TensorImpl& found, const FormMeta& expected, const char* what) const {
    const Shape shape = shape_at(expected.shape, n_, what);
    if (found.meta.shape == shape && found.meta.dtype == expected.dtype) return;
    fail_invalid("{}: expected {} {}, what the op gives, found {} {}", what, name(found.meta.dtype),
                 to_string(found.meta.shape), name(expected.dtype), to_string(shape));
  }

  const Form& form_;
  const int64_t n_;
  std::vector<IntrusivePtr<TensorImpl>> values_;
};

}  // namespace

void check_graph(const Form& form, const FormGraph& graph, int64_t n, const std::string& place) {
  Walk walk(form, n);
  for (size_t i = 0; i < graph.records.size(); ++i) {
    try {
      walk.run(graph.records[i]);
    } catch (const Error& error) {
      fail_invalid("{}.records[{}]: {}", place, i, error.what());
    }
  }
}

}  // namespace thalweg::model
