#include "kernels/cpu.h"

namespace thalweg {

void register_cpu_kernels() {}

}  // namespace thalweg
