#include <limits>
#include <new>

#include <thalweg/tensor/tensor.h>

#include "base/fail.h"
#include "device/pool.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

constinit thread_local HostObserver* t_observer = nullptr;

}  // namespace

HostObserver* set_host_observer(HostObserver* observer) noexcept {
  return std::exchange(t_observer, observer);
}

void tell_host_access(const TensorImpl& tensor, const char* operation) {
  if (t_observer) [[unlikely]]
    t_observer->host_access(tensor, operation);
}

IntrusivePtr<TensorImpl> TensorImpl::create() {
  void* memory = pool::allocate(pool::kClassOf<sizeof(TensorImpl)>);
  return IntrusivePtr<TensorImpl>::adopt(new (memory) TensorImpl());
}

void TensorImpl::destroy(TensorImpl* impl) {
  impl->~TensorImpl();
  pool::release(impl, pool::kClassOf<sizeof(TensorImpl)>);
}

inline bool TensorImpl::follow_meta() {
  const TensorMeta::Extent extent = meta.extent();
  count = extent.count;
  row_major = extent.row_major;
  return extent.fits;
}

// The shape may come from an op's inference, so a product too large for 63 bits is found here.
void TensorImpl::allocate() {
  constexpr int64_t kSafe = std::numeric_limits<int64_t>::max() / 8;  // of the widest elements
  if (!follow_meta() || count > kSafe) [[unlikely]]
    count = checked_element_count("allocate", meta.shape, item_size(meta.dtype));
  storage = Storage::allocate(meta.device, static_cast<size_t>(count) * item_size(meta.dtype));
  data = storage->data();
}

void TensorImpl::alias(IntrusivePtr<Storage> shared) {
  follow_meta();
  storage = std::move(shared);
  data = static_cast<char*>(storage->data()) + meta.offset * int64_t(item_size(meta.dtype));
}

void TensorImpl::take(TensorImpl& other) {
  meta = other.meta;
  data = std::exchange(other.data, nullptr);
  count = other.count;
  row_major = other.row_major;
  storage = std::move(other.storage);
}

bool TensorMeta::is_dense() const {
  if (is_contiguous()) return true;
  // Dense when the dimensions, sorted by stride, tile the block.
  Dims order(shape.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t j = i; j > 0 && strides[order[j]] < strides[order[j - 1]]; --j) {
      std::swap(order[j], order[j - 1]);
    }
  }
  int64_t expected = 1;
  for (int64_t axis : order) {
    if (shape[axis] == 1) continue;
    if (strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

Tensor make_view(const Tensor& base, const TensorMeta& meta) {
  IntrusivePtr<TensorImpl> impl = TensorImpl::create();
  impl->meta = meta;
  impl->alias(base.impl()->storage);
  return Tensor(std::move(impl));
}

}  // namespace thalweg
