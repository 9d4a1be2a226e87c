#include "model/form.h"

#include <cstring>

#include "base/fail.h"

namespace thalweg::model {

std::optional<int64_t> Size::at(int64_t n) const {
  int64_t value = 0;
  if (__builtin_mul_overflow(factor, n, &value) || __builtin_add_overflow(value, plus, &value))
    return {};
  return value;
}

Shape shape_at(const Sizes& sizes, int64_t n, const char* op) {
  Shape shape;
  for (const Size& size : sizes) {
    const std::optional<int64_t> value = size.at(n);
    if (!value || *value < 0)
      fail_invalid("{}: a batch of {} gives a size that is none: {} * {} + {}", op, n, size.factor,
                   n, size.plus);
    shape.push_back(*value);
  }
  return shape;
}

AttrBytes attrs_at(const FormRecord& record, int64_t n) {
  AttrBytes attrs = record.attrs;
  for (const FormVarying& varying : record.varying) {
    const AttrField& field = record.op->attrs().fields[varying.field];
    const std::optional<int64_t> value = varying.size.at(n);
    if (!value)
      fail_invalid("{}: {} is beyond 63 bits for a batch of {}", record.op->name, field.name, n);
    std::byte* at = attrs.data() + field.offset;
    if (varying.unbiased) {
      const auto count = static_cast<double>(*value);
      const double factor = *value > 1 ? count / (count - 1) : 1;
      std::memcpy(at, &factor, sizeof factor);
    } else if (field.type == AttrType::dims) {
      (*reinterpret_cast<Dims*>(at))[varying.element] = *value;
    } else {
      std::memcpy(at, &*value, sizeof(int64_t));
    }
  }
  return attrs;
}

}  // namespace thalweg::model
