#pragma once

#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include <thalweg/base/export.h>
#include <thalweg/tensor/dtype.h>
#include <thalweg/tensor/impl.h>
#include <thalweg/tensor/index.h>
#include <thalweg/tensor/meta.h>
#include <thalweg/tensor/shape.h>

namespace thalweg {

struct TensorOptions {
  DType dtype = DType::f32;
  Device device = {};
};

/// A handle to an n-dimensional array on one device: storage, offset, shape, strides, dtype. Copies
/// of a handle are the same tensor; clone() copies elements. A default-constructed handle is no
/// tensor: whatever but defined() is asked of it throws Error{invalid}. One tensor must not be
/// changed by two threads at once; reading, and any use of different tensors, is free.
class THALWEG_API Tensor {
 public:
  Tensor() noexcept = default;
  explicit Tensor(IntrusivePtr<TensorImpl> impl) noexcept : impl_(std::move(impl)) {}

  // --- making ---
  /// Elements are uninitialised.
  static Tensor empty(const Shape& shape, TensorOptions options = {});
  static Tensor zeros(const Shape& shape, TensorOptions options = {});
  static Tensor ones(const Shape& shape, TensorOptions options = {});
  /// Throws Error{invalid} when the dtype cannot hold the value.
  static Tensor full(const Shape& shape, double value, TensorOptions options = {});
  /// A 0-d tensor.
  static Tensor scalar(double value, TensorOptions options = {}) {
    return full({}, value, options);
  }
  /// Copies `values`, row-major; their number must be that of `shape`. A shape of {-1} means 1-d.
  template <typename T>
  static Tensor of(std::span<const T> values, const Shape& shape = {-1}, Device device = {}) {
    return copy_from(values.data(), values.size(), dtype_of<T>, shape, device);
  }
  template <typename T>
  static Tensor of(std::initializer_list<T> values, const Shape& shape = {-1}, Device device = {}) {
    return copy_from(values.begin(), values.size(), dtype_of<T>, shape, device);
  }
  template <typename T>
  static Tensor of(const std::vector<T>& values, const Shape& shape = {-1}, Device device = {}) {
    return of(std::span<const T>(values), shape, device);
  }

  // --- asking ---
  bool defined() const noexcept { return static_cast<bool>(impl_); }
  const TensorMeta& meta() const {
    if (!impl_) [[unlikely]]
      throw_undefined();
    return impl_->meta;
  }
  const Shape& shape() const { return meta().shape; }
  const Dims& strides() const { return meta().strides; }
  /// Size of one dimension; negative axes count from the end.
  int64_t size(int64_t axis) const;
  /// Number of elements.
  int64_t size() const { return meta().size(); }
  int64_t dims() const { return static_cast<int64_t>(meta().shape.size()); }
  DType dtype() const { return meta().dtype; }
  Device device() const { return meta().device; }
  bool is_contiguous() const { return meta().is_contiguous(); }

  // --- the elements, on the host ---
  /// Row-major elements. Throws Error{invalid} unless T is the tensor's dtype, the tensor is on the
  /// cpu and contiguous (else: contiguous(), to(Device::cpu()), to_vector()).
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(checked_data(dtype_of<T>, "data"));
  }
  /// As data(), to be written: counts as a change in place.
  template <typename T>
  T* mutable_data() const {
    return static_cast<T*>(checked_mutable_data(dtype_of<T>));
  }
  /// All elements in row-major order, whatever the strides and device. T must be the dtype.
  template <typename T>
  std::vector<T> to_vector() const {
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<T> values(static_cast<size_t>(size()));
      const Tensor host = row_major_on_host(dtype_of<T>);
      const bool* from = static_cast<const bool*>(host.checked_data(DType::boolean, "to_vector"));
      for (size_t i = 0; i < values.size(); ++i) values[i] = from[i];
      return values;
    } else {
      const Tensor host = row_major_on_host(dtype_of<T>);
      const T* from = host.data<T>();
      return std::vector<T>(from, from + host.size());
    }
  }
  /// The only element, converted to T. Throws Error{invalid} unless there is exactly one element
  /// and T can hold it.
  template <typename T>
  T item() const {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(item_as_double());
    else if constexpr (std::is_same_v<T, bool>)
      return item_as_double() != 0;
    else
      return narrow_item<T>(item_as_int64());
  }

  // --- views and copies (recorded like any op; defined in room ops) ---
  /// NumPy's basic indexing; a view.
  Tensor operator[](IndexList index) const;
  Tensor operator[](int64_t position) const;
  /// Slices of axis 0 at integer positions (see take), or the elements where a bool tensor holds
  /// (see masked_select); a copy.
  Tensor operator[](const Tensor& index) const;
  /// One size may be -1. A view where the strides allow it, else a copy.
  Tensor reshape(const Shape& shape) const;
  /// Swaps two axes; a view.
  Tensor transpose(int64_t a = -2, int64_t b = -1) const;
  /// Reorders all axes; a view.
  Tensor permute(const Dims& axes) const;
  Tensor to(DType dtype) const;
  Tensor to(Device device) const;
  /// Itself when row-major, else a row-major copy.
  Tensor contiguous() const;
  /// A copy of the elements with its own storage, row-major.
  Tensor clone() const;
  /// The same elements without a history: gradients do not flow through it.
  Tensor detach() const;

  // --- changes in place (not recorded; defined in room ops) ---
  /// Sets every element.
  const Tensor& fill(double value) const;
  /// Copies the elements of `source`, broadcast and converted to this dtype.
  const Tensor& assign(const Tensor& source) const;

  // --- gradients (defined in room graph) ---
  /// Makes this a leaf whose gradient backward() computes.
  const Tensor& attach_grad(GradReq req = GradReq::write) const;
  GradReq grad_req() const noexcept;
  /// The gradient, of this shape and dtype: zeros before the first backward. Throws Error{invalid}
  /// when attach_grad was not called.
  Tensor grad() const;
  void zero_grad() const;
  /// Computes the gradients of all leaves this tensor was computed from, with ones (or `head`) as
  /// its own gradient. See thalweg::backward for the errors and for `retain`.
  void backward() const;
  void backward(const Tensor& head) const;

  TensorImpl* impl() const noexcept { return impl_.get(); }
  IntrusivePtr<TensorImpl> release_impl() && noexcept { return std::move(impl_); }

 private:
  static Tensor copy_from(const void* values, size_t count, DType dtype, Shape shape,
                          Device device);
  const void* checked_data(DType wanted, const char* operation) const;
  void* checked_mutable_data(DType wanted) const;
  Tensor row_major_on_host(DType wanted) const;
  double item_as_double() const;
  int64_t item_as_int64() const;
  [[noreturn]] static void throw_undefined();
  [[noreturn]] void throw_item_out_of_range(int64_t value, size_t bytes) const;
  template <typename T>
  T narrow_item(int64_t value) const {
    const T narrow = static_cast<T>(value);
    if (static_cast<int64_t>(narrow) != value || (narrow < T{}) != (value < 0)) {
      throw_item_out_of_range(value, sizeof(T));
    }
    return narrow;
  }

  IntrusivePtr<TensorImpl> impl_;
};

/// A tensor over the same storage with another meta, without history. For authors of ops.
THALWEG_API Tensor make_view(const Tensor& base, const TensorMeta& meta);

/// NumPy-like text: values that read back, long tensors shortened, dtype and shape where they are
/// not plain.
THALWEG_API std::string to_string(const Tensor& tensor);
THALWEG_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace thalweg
