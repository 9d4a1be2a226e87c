// The composition root: the one place that knows all rooms.

#include "kernels/cpu.h"
#include "ops/compose.h"

namespace thalweg {

void compose() {
  register_cpu_kernels();
  add_reference_kernels();
}

}  // namespace thalweg
