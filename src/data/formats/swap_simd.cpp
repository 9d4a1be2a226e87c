#include "data/formats/swap_simd.h"

#include <algorithm>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/formats/swap_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace thalweg::data::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void SwapItemBytes(uint8_t* bytes, size_t size, size_t item_bytes) {
  size_t at = 0;
#if HWY_TARGET != HWY_SCALAR
  // Within blocks of 16 bytes: the byte at i comes from i ^ (item_bytes - 1).
  const hn::ScalableTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN uint8_t order[hn::MaxLanes(d)];
  for (size_t i = 0; i < lanes; ++i) order[i] = static_cast<uint8_t>((i ^ (item_bytes - 1)) & 15);
  const auto from = hn::Load(d, order);
  for (; at + lanes <= size; at += lanes)
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(d, bytes + at), from), d, bytes + at);
#endif
  for (; at < size; at += item_bytes) std::reverse(bytes + at, bytes + at + item_bytes);
}

}  // namespace thalweg::data::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg::data {

HWY_EXPORT(SwapItemBytes);

void swap_item_bytes(std::byte* bytes, size_t size, size_t item_bytes) {
  HWY_DYNAMIC_DISPATCH(SwapItemBytes)(reinterpret_cast<uint8_t*>(bytes), size, item_bytes);
}

}  // namespace thalweg::data
#endif
