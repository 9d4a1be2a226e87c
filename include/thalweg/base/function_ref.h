#pragma once

#include <type_traits>
#include <utility>

namespace thalweg {

template <typename Signature>
class FunctionRef;

/// A callable passed by reference: two pointers, no heap. For parameters only; it must not outlive
/// the callable.
template <typename Result, typename... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_invocable_r_v<Result, F&, Args...>)
      FunctionRef(F&& callable)  // NOLINT: implicit, as a parameter wants it
      : object_(const_cast<void*>(static_cast<const void*>(&callable))),
        call_([](void* object, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  Result (*call_)(void*, Args...);
};

}  // namespace thalweg
