#pragma once

#include <string>

namespace thalweg::cuda {

/// A shared library that is opened when it is first needed, and stays open.
class DynamicLibrary {
 public:
  /// Looks for `name` where the system does, then beside the toolkit that this was built with.
  explicit DynamicLibrary(const char* name);

  /// Null if it was found.
  const char* why_missing() const { return handle_ ? nullptr : reason_.c_str(); }

  /// Sets a pointer to the function of that name; a library without it counts as missing.
  template <typename F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(symbol(name));
  }

 private:
  void* symbol(const char* name);

  void* handle_;
  std::string reason_;
};

}  // namespace thalweg::cuda
