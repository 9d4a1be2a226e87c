#pragma once

// A product and the point-wise records that follow it: they run on rows of its output as soon as
// those are there, while they are in the cache.

#include "graph/fusion.h"
#include "ops/by_parts.h"

namespace thalweg {

struct ProductTail {
  PlanRecord product;
  RunByParts run;
  std::shared_ptr<const FusedBody> tail;
  std::vector<uint32_t>
      inputs;  // of the tail: numbers of the joined record's, kNoIndex: the product
  std::string name, description;
  Op op;  // the joined record's
};

/// One record that does what `product` and then `tail` do. Its inputs are the product's and then
/// the others of the tail's, its outputs the product's and the tail's.
PlanRecord with_tail(PlanRecord product, const PlanRecord& tail);

/// Of the call of a joined record; null for others.
const ProductTail* tail_of(const KernelContext& ctx);

}  // namespace thalweg
