#pragma once

#include <string>
#include <vector>

#include <thalweg/graph/plan.h>

namespace thalweg::detail {

/// Adds how layers act to what a call was given.
void add_mode(PlanArguments& arguments);

/// What calls must have in common to share a plan.
class Signature {
 public:
  Signature() = default;
  explicit Signature(const PlanArguments& arguments);

  bool matches(const PlanArguments& arguments) const;
  /// "(f32 [64, 784], i64 [64])", and that layers act as in training where the call itself is so.
  std::string describe() const;

 private:
  struct Key {
    bool defined = false;
    TensorMeta meta;  // but for the offset
    GradReq req = GradReq::null;
    IntrusivePtr<TensorImpl> leaf;  // an argument with a gradient is a parameter: always the same
    size_t shares = 0;       // the first argument of the same memory, itself if there is none
    ptrdiff_t distance = 0;  // from that one's first element, in bytes
  };
  static Key key_of(std::span<const TensorImpl* const> arguments, size_t i);
  static bool same(const Key& key, std::span<const TensorImpl* const> arguments, size_t i);

  std::vector<Key> keys_;
  std::vector<uint64_t> values_;
};

}  // namespace thalweg::detail
