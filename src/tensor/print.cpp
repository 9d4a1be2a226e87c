#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include <thalweg/tensor/tensor.h>

#include "base/fail.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

constexpr int64_t kMostElements = 1000;  // beyond this, only the ends of each dimension are shown
constexpr int64_t kEdge = 3;
constexpr size_t kLineWidth = 100;

std::string element_text(const TensorImpl& tensor, int64_t position) {
  return visit_dtype(tensor.meta.dtype, [&](auto zero) -> std::string {
    using T = decltype(zero);
    const T value = tensor.as<T>()[position];
    if constexpr (std::is_same_v<T, bool>)
      return value ? "true" : "false";
    else if constexpr (std::is_integral_v<T>)
      return fmt::format("{}", static_cast<int64_t>(value));
    else if (std::isnan(static_cast<double>(value)))
      return "nan";  // whatever its sign, which means nothing
    else if constexpr (std::is_same_v<T, double>)
      return fmt::format("{:.6g}", value);
    else
      return fmt::format("{:.5g}", static_cast<float>(value));
  });
}

class Printer {
 public:
  explicit Printer(const Tensor& tensor)
      : tensor_(tensor), meta_(tensor.meta()), shortened_(tensor.size() > kMostElements) {
    collect(0, 0);
    for (const std::string& text : texts_) width_ = std::max(width_, text.size());
  }

  bool shortened() const { return shortened_; }
  std::string print() {
    std::string out;
    write(out, 0, 1);
    return out;
  }

 private:
  bool skips(size_t axis) const { return shortened_ && meta_.shape[axis] > 2 * kEdge; }

  // The shown elements in the order in which they are written.
  void collect(size_t axis, int64_t position) {
    if (axis == meta_.shape.size()) {
      texts_.push_back(element_text(*tensor_.impl(), position));
      return;
    }
    for (int64_t i = 0; i < meta_.shape[axis]; ++i) {
      if (skips(axis) && i == kEdge) i = meta_.shape[axis] - kEdge;
      collect(axis + 1, position + i * meta_.strides[axis]);
    }
  }

  void write(std::string& out, size_t axis, size_t indent) {
    if (axis == meta_.shape.size()) {
      const std::string& text = texts_[next_++];
      if (!meta_.shape.empty()) out.append(width_ - text.size(), ' ');
      out += text;
      return;
    }
    const bool innermost = axis + 1 == meta_.shape.size();
    out += '[';
    size_t line_start = out.size() - indent;
    for (int64_t i = 0; i < meta_.shape[axis]; ++i) {
      if (i) separate(out, innermost, meta_.shape.size() - axis, indent, line_start);
      if (skips(axis) && i == kEdge) {
        out += "...";
        separate(out, innermost, meta_.shape.size() - axis, indent, line_start);
        i = meta_.shape[axis] - kEdge;
      }
      write(out, axis + 1, indent + 1);
    }
    out += ']';
  }

  void separate(std::string& out, bool innermost, size_t depth, size_t indent,
                size_t& line_start) const {
    out += ',';
    if (innermost && out.size() - line_start + width_ + 2 <= kLineWidth) {
      out += ' ';
      return;
    }
    out.append(innermost ? 1 : depth - 1, '\n');
    line_start = out.size();
    out.append(indent, ' ');
  }

  Tensor tensor_;
  const TensorMeta& meta_;
  bool shortened_;
  std::vector<std::string> texts_;
  size_t width_ = 0;
  size_t next_ = 0;
};

}  // namespace

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined tensor";
  const Tensor host = to_host(tensor);
  Printer printer(host);
  std::string text = printer.print();
  const DType dtype = tensor.dtype();
  if (dtype != DType::f32 && dtype != DType::i64 && dtype != DType::boolean) {
    text += fmt::format(" dtype={}", name(dtype));
  }
  if (printer.shortened() || tensor.size() == 0) {
    text += fmt::format(" shape={}", to_string(tensor.shape()));
  }
  if (tensor.device().kind != DeviceKind::cpu) {
    text += fmt::format(" device={}", to_string(tensor.device()));
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << to_string(tensor);
}

}  // namespace thalweg
