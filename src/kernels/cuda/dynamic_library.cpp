#include "kernels/cuda/dynamic_library.h"

#include <dlfcn.h>

namespace thalweg::cuda {

DynamicLibrary::DynamicLibrary(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
  if (handle_) return;
  const std::string beside = std::string(THALWEG_CUDA_LIBRARIES) + "/" + name;
  handle_ = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_) return;
  const char* why = dlerror();
  reason_ = std::string(name) + " is not found: " + (why ? why : "no reason is known");
}

void* DynamicLibrary::symbol(const char* name) {
  if (!handle_) return nullptr;
  void* found = dlsym(handle_, name);
  if (found) return found;
  reason_ = std::string("the library has no function ") + name;
  handle_ = nullptr;
  return nullptr;
}

}  // namespace thalweg::cuda
