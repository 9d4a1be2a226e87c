// The composition root: the one place that knows all rooms.

#include "ops/compose.h"

namespace thalweg {

void compose() { add_reference_kernels(); }

}  // namespace thalweg
