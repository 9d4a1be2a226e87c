#pragma once

// Text to train language models on: windows of any text, and one that a generator writes.

#include <cstdint>
#include <string>
#include <string_view>

#include <thalweg/data/dataset.h>

namespace thalweg::data {

struct DrawnTextOptions {
  Split split = Split::train;
  int64_t bytes = 1'000'000;  // about: the last sentence ends
  uint64_t seed = 0;
};

/// Simple English sentences, four a line, about animals, where they are and what numbers make:
/// "two small dogs see the owl. where is it? it is in the barn. six and five make eleven." Subjects
/// and verbs agree, sums are right, and an answer names the place told before. A longer text of the
/// same seed begins with the shorter one.
THALWEG_API std::string drawn_text(const DrawnTextOptions& options = {});

/// `text` cut into windows of `length` bytes, one after the other; what is left over is dropped.
/// Fields "data", the bytes of a window as i64 [length], and "label", the byte after each of them.
/// Throws Error{invalid} where not one window fits. Text larger than memory: see
/// thalweg/data/text.h.
THALWEG_API Dataset text_windows(std::string name, std::string_view text, int64_t length);

}  // namespace thalweg::data
