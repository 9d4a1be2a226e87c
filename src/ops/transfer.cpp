// Copies between devices.

#include <thalweg/ops/call.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

constexpr const char* kDeviceKindNames[] = {"cpu", "cuda"};

struct TransferAttrs {
  DeviceKind kind = DeviceKind::cpu;
  int64_t index = 0;
  static auto fields() {
    return std::tuple{attr("kind", &TransferAttrs::kind, "kind of device", kDeviceKindNames),
                      attr("index", &TransferAttrs::index, "number of the device")};
  }
};

void infer_transfer(const InferContext& ctx) {
  const TransferAttrs& a = ctx.attrs<TransferAttrs>();
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().set_row_major(ctx.in(0).shape);
  ctx.out().device = {a.kind, static_cast<uint8_t>(a.index)};
}

void reference_transfer(const KernelContext& ctx) {
  copy_bytes(ctx.out().meta.device, ctx.out().data, ctx.in(0).meta.device, ctx.in(0).data,
             static_cast<size_t>(ctx.out().count) * item_size(ctx.out().meta.dtype));
}

void sample_transfer(Samples& s) {
  s.add({s.spread({3, 4})}, TransferAttrs{});
  s.add({s.spread({})}, TransferAttrs{});
  s.add({s.spread({0, 2})}, TransferAttrs{});
}

const Op kTransfer{
    .name = "transfer",
    .doc = "A row-major copy on another device; made by Tensor::to.",
    .inputs = "x",
    .attrs = attr_info<TransferAttrs>,
    .flags = {.transfer = true},
    .infer = infer_transfer,
    .vjp = [](VjpContext& ctx) { ctx.set(0, ctx.grad().to(ctx.input_meta(0).device)); },
    .reference = reference_transfer,
    .samples = sample_transfer};

}  // namespace

Tensor Tensor::to(Device device) const {
  if (device == this->device()) return *this;
  require_available(device);
  return call(kTransfer, TransferAttrs{device.kind, device.index}, thalweg::contiguous(*this));
}

std::span<const Op* const> transfer_rows() {
  static constexpr const Op* rows[] = {&kTransfer};
  return rows;
}

}  // namespace thalweg
