#include "model/form_of.h"

#include <cmath>
#include <cstring>

#include "base/fail.h"
#include "tensor/copy.h"

namespace thalweg::model {
namespace {

template <typename T>
T load(const AttrBytes& attrs, const AttrField& field) {
  T value;
  std::memcpy(&value, attrs.data() + field.offset, sizeof value);
  return value;
}

const Dims& dims_of(const AttrBytes& attrs, const AttrField& field) {
  return *reinterpret_cast<const Dims*>(attrs.data() + field.offset);
}

bool is_random_field(const Op& op, const AttrField& field) {
  return op.flags.random &&
         (field.name == std::string_view("seed") || field.name == std::string_view("offset"));
}

// One field of one record in all recordings.
class Field {
 public:
  Field(const Recordings& recordings, size_t record, uint32_t field)
      : recordings_(recordings),
        record_(record),
        field_(first().op->attrs().fields[field]),
        number_(field) {}

  bool is_same() const {
    for (const RawGraph& graph : recordings_.graphs) {
      const RawRecord& r = graph.records[record_];
      if (field_.type == AttrType::dims) {
        if (!(dims_of(r.attrs, field_) == dims_of(first().attrs, field_))) return false;
      } else if (bytes(r) != bytes(first())) {
        return false;
      }
    }
    return true;
  }

  /// How it follows the batch; nothing if it does in another way.
  std::optional<std::vector<FormVarying>> varying() const {
    if (field_.type == AttrType::i64)
      return one(gather([&](const AttrBytes& a) { return load<int64_t>(a, field_); }));
    if (field_.type == AttrType::f64) return unbiased();
    if (field_.type != AttrType::dims) return {};
    const size_t count = dims_of(first().attrs, field_).size();
    std::vector<FormVarying> all;
    for (uint32_t i = 0; i < count; ++i) {
      std::vector<int64_t> values;
      for (const RawGraph& graph : recordings_.graphs) {
        const Dims& dims = dims_of(graph.records[record_].attrs, field_);
        if (dims.size() != count) return {};
        values.push_back(dims[i]);
      }
      const std::optional<Size> size = size_of(recordings_.batches, values);
      if (!size) return {};
      if (size->factor != 0) all.push_back({number_, i, *size, false});
    }
    return all;
  }

 private:
  const RawRecord& first() const { return recordings_.graphs[0].records[record_]; }

  std::string_view bytes(const RawRecord& r) const {
    const bool wide = field_.type == AttrType::i64 || field_.type == AttrType::u64 ||
                      field_.type == AttrType::f64;
    return {reinterpret_cast<const char*>(r.attrs.data()) + field_.offset, wide ? 8u : 1u};
  }

  template <typename Get>
  std::vector<int64_t> gather(const Get& get) const {
    std::vector<int64_t> values;
    for (const RawGraph& graph : recordings_.graphs)
      values.push_back(get(graph.records[record_].attrs));
    return values;
  }

  std::optional<std::vector<FormVarying>> one(const std::vector<int64_t>& values,
                                              bool is_unbiased = false) const {
    const std::optional<Size> size = size_of(recordings_.batches, values);
    if (!size) return {};
    return std::vector<FormVarying>{{number_, 0, *size, is_unbiased}};
  }

  // n / (n - 1) of whole numbers n, as of an unbiased variance.
  std::optional<std::vector<FormVarying>> unbiased() const {
    std::vector<int64_t> counts;
    for (const RawGraph& graph : recordings_.graphs) {
      const double value = load<double>(graph.records[record_].attrs, field_);
      const double n = std::round(value / (value - 1));
      if (!(n > 1 && n < 1e9) || n / (n - 1) != value) return {};
      counts.push_back(static_cast<int64_t>(n));
    }
    return one(counts, true);
  }

  const Recordings& recordings_;
  const size_t record_;
  const AttrField& field_;
  const uint32_t number_;
};

// The sizes of a value in all recordings; nothing if they follow the batch in no known way.
std::optional<Sizes> sizes_of(const Recordings& recordings, size_t value) {
  Sizes sizes;
  const Shape& first = recordings.graphs[0].values[value].meta.shape;
  for (size_t i = 0; i < first.size(); ++i) {
    std::vector<int64_t> values;
    for (const RawGraph& graph : recordings.graphs) {
      const Shape& shape = graph.values[value].meta.shape;
      if (shape.size() != first.size()) return {};
      values.push_back(shape[i]);
    }
    const std::optional<Size> size = size_of(recordings.batches, values);
    if (!size) return {};
    sizes.push_back(*size);
  }
  return sizes;
}

// The one number that all elements are, if they are.
std::optional<double> only_number(const Tensor& content) {
  if (content.size() == 0) return {};
  const std::vector<double> values = content.to(DType::f64).to_vector<double>();
  for (const double value : values) {
    if (value != values[0] || std::signbit(value) != std::signbit(values[0])) return {};
  }
  constexpr double kExact = 9007199254740992;  // 2^53
  if (!is_floating(content.dtype()) && std::abs(values[0]) >= kExact) return {};
  return values[0];
}

bool same_elements_of(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const size_t bytes = static_cast<size_t>(a.size()) * item_size(a.dtype());
  return bytes == 0 || std::memcmp(a.impl()->data, b.impl()->data, bytes) == 0;
}

bool same_wiring(const RawRecord& a, const RawRecord& b) {
  return a.op == b.op && a.inputs == b.inputs && a.outputs == b.outputs && a.into == b.into &&
         a.paused == b.paused && a.layer == b.layer;
}

std::string constant_disagreement(const Recordings& recordings, size_t value) {
  const RawValue& first = recordings.graphs[0].values[value];
  for (const RawGraph& graph : recordings.graphs) {
    const RawValue& other = graph.values[value];
    if (same_elements_of(first.content, other.content)) continue;
    const std::optional<double> number = only_number(first.content);
    if (!number || only_number(other.content) != number)
      return fmt::format(
          "a tensor {} {} that the function fills has other elements for another "
          "batch",
          name(first.meta.dtype), to_string(first.meta.shape));
  }
  return {};
}

}  // namespace

std::optional<Size> size_of(const std::vector<int64_t>& batches,
                            const std::vector<int64_t>& values) {
  Size size{0, values[0]};
  for (size_t i = 1; i < values.size(); ++i) {
    const int64_t step = batches[i] - batches[0], change = values[i] - values[0];
    if (step == 0 ? change != 0 : change % step != 0) return {};
    if (i == 1 && step != 0) size = {change / step, values[0] - change / step * batches[0]};
    if (size.at(batches[i]) != values[i]) return {};
  }
  return size;
}

std::string disagreement(const Recordings& recordings) {
  const RawGraph& first = recordings.graphs[0];
  for (const RawGraph& graph : recordings.graphs) {
    if (graph.records.size() != first.records.size() ||
        graph.values.size() != first.values.size() || graph.results != first.results)
      return "the function runs other ops for another batch";
    for (size_t i = 0; i < first.records.size(); ++i) {
      if (!same_wiring(graph.records[i], first.records[i]))
        return fmt::format("op {} ({}) is another one for another batch", i,
                           first.records[i].op->name);
    }
  }
  for (size_t i = 0; i < first.records.size(); ++i) {
    const Op& op = *first.records[i].op;
    for (uint32_t f = 0; f < op.attrs().fields.size(); ++f) {
      const Field field(recordings, i, f);
      if (is_random_field(op, op.attrs().fields[f]) || field.is_same() || field.varying()) continue;
      return fmt::format("'{}' of op {} ({}) changes with the batch, and not by a multiple of it",
                         op.attrs().fields[f].name, i, op.name);
    }
  }
  for (size_t v = 0; v < first.values.size(); ++v) {
    if (!sizes_of(recordings, v)) return "sizes change with the batch, and not by a multiple of it";
    if (first.values[v].kind != RawValue::Kind::constant) continue;
    if (std::string found = constant_disagreement(recordings, v); !found.empty()) return found;
  }
  return {};
}

void add_constants(Form& form, const Recordings& recordings) {
  const RawGraph& first = recordings.graphs[0];
  for (size_t v = 0; v < first.values.size(); ++v) {
    const RawValue& value = first.values[v];
    if (value.kind != RawValue::Kind::constant) continue;
    FormTensor& tensor = form.tensors.emplace_back();
    tensor.name = fmt::format("constant {}", form.tensors.size() - 1);
    tensor.meta = {value.meta.dtype, *sizes_of(recordings, v)};
    if (const std::optional<double> number = only_number(value.content)) {
      tensor.kind = FormTensor::Kind::fill;
      tensor.fill = *number;
    } else {
      tensor.kind = FormTensor::Kind::constant;
      tensor.data = value.content;
    }
  }
}

FormGraph graph_of(const Form& form, const Recordings& recordings, size_t first_constant) {
  const RawGraph& first = recordings.graphs[0];
  const auto inputs = static_cast<int32_t>(form.inputs.size());
  std::vector<int32_t> numbers;  // of the raw values
  auto constant = inputs + static_cast<int32_t>(first_constant);
  auto computed = static_cast<int32_t>(form.first_computed());
  for (const RawValue& value : first.values) {
    switch (value.kind) {
      case RawValue::Kind::argument:
        numbers.push_back(static_cast<int32_t>(value.index));
        break;
      case RawValue::Kind::parameter:
        numbers.push_back(inputs + static_cast<int32_t>(value.index));
        break;
      case RawValue::Kind::constant:
        numbers.push_back(constant++);
        break;
      case RawValue::Kind::computed:
        numbers.push_back(computed++);
    }
  }
  const auto number = [&](int32_t raw) {
    return raw == kAbsent ? kAbsent : numbers[static_cast<size_t>(raw)];
  };
  FormGraph graph;
  for (size_t i = 0; i < first.records.size(); ++i) {
    const RawRecord& raw = first.records[i];
    FormRecord& r = graph.records.emplace_back();
    r.op = raw.op;
    r.attrs = raw.attrs;
    r.paused = raw.paused;
    r.layer = raw.layer;
    r.into = number(raw.into);
    for (const int32_t in : raw.inputs) r.inputs.push_back(number(in));
    for (const int32_t out : raw.outputs) {
      r.outputs.push_back(number(out));
      const auto value = static_cast<size_t>(out);
      r.metas.push_back({first.values[value].meta.dtype, *sizes_of(recordings, value)});
    }
    for (uint32_t f = 0; f < raw.op->attrs().fields.size(); ++f) {
      const Field field(recordings, i, f);
      if (is_random_field(*raw.op, raw.op->attrs().fields[f]) || field.is_same()) continue;
      const std::vector<FormVarying> varying = field.varying().value();
      r.varying.insert(r.varying.end(), varying.begin(), varying.end());
    }
  }
  for (const int32_t result : first.results) graph.results.push_back(number(result));
  return graph;
}

}  // namespace thalweg::model
