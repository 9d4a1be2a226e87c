#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <thalweg/base/function_ref.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg::nn {

class Module;

/// Sees a module's inputs before it runs.
using PreHook = std::function<void(Module& module, std::span<const Tensor> inputs)>;
/// Sees inputs and output after it ran, and may put another tensor in the output's place.
using Hook = std::function<void(Module& module, std::span<const Tensor> inputs, Tensor& output)>;

/// The hooks of a module, in the order they were added.
class THALWEG_API HookList {
 public:
  Tensor run(Module& module, std::span<const Tensor> inputs, FunctionRef<Tensor()> body);
  uint64_t add(PreHook before, Hook after);
  void remove(uint64_t id);

 private:
  struct Entry {
    uint64_t id;
    PreHook before;
    Hook after;
  };
  std::vector<std::shared_ptr<const Entry>> entries_;
  uint64_t next_id_ = 0;
};

/// Keeps a hook in place while it lives, or until detach().
class THALWEG_API HookHandle {
 public:
  HookHandle() = default;
  HookHandle(const std::shared_ptr<HookList>& list, uint64_t id) : list_(list), id_(id) {}
  ~HookHandle() { detach(); }
  HookHandle(HookHandle&& other) noexcept : list_(std::move(other.list_)), id_(other.id_) {}
  HookHandle& operator=(HookHandle&& other) noexcept;

  void detach() noexcept;

 private:
  std::weak_ptr<HookList> list_;
  uint64_t id_ = 0;
};

}  // namespace thalweg::nn
