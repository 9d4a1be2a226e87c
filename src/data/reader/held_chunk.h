#pragma once

#include <memory>

#include <thalweg/data/deserializer.h>

#include "data/reader/memory_budget.h"

namespace thalweg::data {

/// A chunk in memory, counted for as long as somebody has it.
class HeldChunk {
 public:
  /// `reserved` bytes of the budget are the chunk's already.
  HeldChunk(std::shared_ptr<const Chunk> chunk, std::shared_ptr<MemoryBudget> budget,
            size_t reserved)
      : chunk_(std::move(chunk)), bytes_(chunk_->bytes()), budget_(std::move(budget)) {
    budget_->replace(reserved, bytes_);
  }
  ~HeldChunk() {
    chunk_.reset();
    budget_->give_back(bytes_);
  }
  HeldChunk(const HeldChunk&) = delete;
  HeldChunk& operator=(const HeldChunk&) = delete;

  const Chunk& operator*() const { return *chunk_; }
  const Chunk* operator->() const { return chunk_.get(); }

 private:
  std::shared_ptr<const Chunk> chunk_;
  size_t bytes_;
  std::shared_ptr<MemoryBudget> budget_;
};

using HeldChunkPtr = std::shared_ptr<const HeldChunk>;

}  // namespace thalweg::data
