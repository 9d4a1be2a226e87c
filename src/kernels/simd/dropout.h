#pragma once

#include <cstdint>

namespace thalweg::simd {

/// Elements whose first one draws the first word of block `block` of the seed's sequence.
struct DropoutRow {
  const void* in;
  void* out;
  int64_t n;
  uint64_t seed;
  uint64_t block;
  uint32_t dropped;  // an element whose word is below it becomes 0
  float scale;
};
using DropoutRowFn = void (*)(const DropoutRow&);

/// The loops of the best target for f32, f16 and bf16, by dtype.
struct DropoutTable {
  DropoutRowFn rows[4];
};
void fill_dropout(DropoutTable& table);

/// Fills the table that the kernel looks up.
void choose_dropout_target();

/// Adds the SIMD kernel of dropout to the op table.
void register_dropout();

}  // namespace thalweg::simd
