#pragma once

// The flat tape: records {op, attributes, input ids, output ids} and a table of values. One segment
// belongs to each outermost Record scope; tensors that were recorded keep their segment alive.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <thalweg/ops/call.h>
#include <thalweg/tensor/impl.h>

namespace thalweg {

class Segment;

/// TensorImpl::value of a plan's result, which has no segment: backward() tells what it is.
inline constexpr uint32_t kPlanResult = ~uint32_t{0};

enum class ValueKind : uint8_t {
  constant,  // wants no gradient
  computed,  // the output of a record of this segment
  leaf,      // its gradient is what backward is for
  foreign    // a computed value of an older segment
};

/// A tensor as the tape knows it. The elements are held only if a vjp will need them.
struct TapeValue {
  TapeValue() {}  // not defaulted: T() would clear all of it first

  TensorMeta meta;
  ValueKind kind = ValueKind::constant;
  uint32_t version = 0;        // of `saved` when it was saved
  uint32_t foreign_value = 0;  // its number on `foreign`
  IntrusivePtr<Storage> saved;
  IntrusivePtr<TensorImpl> leaf;
  IntrusivePtr<Segment> foreign;
};

struct TapeRecord {
  const Op* op = nullptr;
  uint32_t attrs = 0;         // position in the segment's attribute bytes
  uint32_t first_input = 0;   // position in the list of ids
  uint32_t first_output = 0;  // outputs are numbered in a row
  uint16_t inputs = 0;
  uint16_t outputs = 0;
  bool consumed = false;  // what it saved was let go by a backward
};

class Segment final : public TapeSegment {
 public:
  static constexpr uint32_t kNoValue = ~uint32_t{0};

  /// A fresh segment, newer than all others.
  static IntrusivePtr<Segment> create();

  void record(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs,
              std::span<TensorImpl* const> outputs);

  uint64_t serial() const { return serial_; }
  /// Segments made from now on have this serial or a greater one.
  static uint64_t next_serial();
  std::span<TapeRecord> records() { return records_; }
  std::span<TapeValue> values() { return values_; }
  std::span<const uint32_t> input_ids(const TapeRecord& r) const {
    return {ids_.data() + r.first_input, r.inputs};
  }
  const void* attrs(const TapeRecord& r) const { return attr_bytes_.data() + r.attrs; }
  /// Keeps an object that attributes point to for as long as the segment lives.
  void keep(std::shared_ptr<void> object) { kept_.push_back(std::move(object)); }
  /// Lets everything go; what was recorded cannot be differentiated any more.
  void clear();
  bool cleared() const { return cleared_; }

 private:
  void dispose() override;
  uint32_t input_value(const TensorImpl& in, bool save);
  uint32_t add_value(const TensorMeta& meta, ValueKind kind);
  void save(uint32_t id, const TensorImpl& tensor);

  uint64_t serial_ = 0;
  bool cleared_ = false;
  std::vector<TapeRecord> records_;
  std::vector<TapeValue> values_;
  std::vector<uint32_t> ids_;
  std::vector<std::max_align_t> attr_bytes_;
  std::vector<std::shared_ptr<void>> kept_;
};

/// The recorder that Record scopes install.
class Tape final : public Recorder {
 public:
  void record(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs,
              std::span<TensorImpl* const> outputs) override;
  void begin() { current_ = Segment::create(); }
  void end() { current_.reset(); }
  Segment* current() const { return current_.get(); }

 private:
  IntrusivePtr<Segment> current_;
};

/// The calling thread's tape.
Tape& thread_tape();

inline Segment* segment_of(const TensorImpl& tensor) {
  return static_cast<Segment*>(tensor.segment.get());
}

}  // namespace thalweg
