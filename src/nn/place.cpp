// Which layer an error came from. Nothing is prepared for it: the frames of the running modules are
// on the stack, and the path is looked up in the tree when an error passes.

#include <thalweg/nn/module.h>

namespace thalweg::nn::detail {
namespace {

// The path of `wanted` below `root`, if it is there.
std::optional<std::string> path_below(Module& root, const Module& wanted) {
  std::optional<std::string> found;
  root.walk([&](const std::string& path, Module& module) {
    if (&module == &wanted && !found) found = path;
  });
  return found;
}

// The longest path: from the outermost running module that knows `wanted` as a part.
std::string path_of(const CallFrame& frame, const Module& wanted) {
  if (frame.outer()) {
    std::string path = path_of(*frame.outer(), wanted);
    if (!path.empty()) return path;
  }
  return path_below(frame.module(), wanted).value_or("");
}

}  // namespace

CallFrame*& CallFrame::current() {
  // An offset from the thread pointer, not a call: every call of a layer looks at it.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local CallFrame* frame = nullptr;
  return frame;
}

void set_place(Error& error) {
  const CallFrame& frame = *CallFrame::current();
  const std::string path = path_of(frame, frame.module());
  const std::string type = frame.module().type_name();
  error.set_place(path.empty() ? type : path + " (" + type + ")");
}

}  // namespace thalweg::nn::detail
