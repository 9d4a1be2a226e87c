#include <thalweg/base/inline_vector.h>

#include "base/fail.h"

namespace thalweg {

void throw_inline_vector_full(size_t capacity) {
  fail_invalid("shape: more than {0} entries; a tensor has at most {0} dimensions", capacity);
}

}  // namespace thalweg
