#pragma once

// Automatic differentiation. Inside a Record scope every op on a tensor that leads back to a leaf
// is kept on the thread's tape; backward() walks the tape in reverse. Outside nothing is kept.
//
//   w.attach_grad();
//   Tensor loss;
//   { Record record; loss = mean(square(matmul(x, w) - y)); }
//   loss.backward();          // w.grad() is set
//
// A gradient flows through floating tensors only; bool and integer results are constants.

#include <optional>
#include <span>
#include <vector>

#include <thalweg/ops/row_gradient.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {

class Recorder;

enum class Mode : uint8_t { training, prediction };

/// Records ops of this thread while it lives; layers act as in training, or as in prediction if
/// asked for. Scopes nest.
class THALWEG_API Record {
 public:
  explicit Record(Mode mode = Mode::training);
  ~Record();
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

 private:
  Recorder* outer_recorder_;
  bool outer_training_;
  bool outermost_;
};

/// Stops recording on this thread while it lives; layers act as in prediction, or as in training if
/// asked for.
class THALWEG_API Pause {
 public:
  explicit Pause(Mode mode = Mode::prediction);
  ~Pause();
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

 private:
  Recorder* outer_recorder_;
  bool outer_training_;
};

/// Sets how layers act on this thread while it lives; recording stays as it is.
class THALWEG_API ModeScope {
 public:
  explicit ModeScope(Mode mode);
  ~ModeScope();
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  bool outer_training_;
};

THALWEG_API bool is_recording();
/// True where dropout and batch norm act as in training.
THALWEG_API bool is_training();

struct BackwardOptions {
  /// Keep what backward needs, so that it can be called again.
  bool retain = false;
  /// Record the backward pass too, so that gradients can be differentiated. Implies retain.
  bool create_graph = false;
};

/// Writes the gradients of all leaves that `heads` were computed from, by each leaf's GradReq.
/// `head_grads[i]`, of heads[i]'s shape and dtype, is the gradient of heads[i]; ones where it is
/// undefined or the list is empty. Throws Error{invalid}: a head has no recorded history; its
/// history was used by an earlier backward without retain; a value that is needed was changed in
/// place; an op on the way has no gradient. Then no gradient was written.
THALWEG_API void backward(std::span<const Tensor> heads, std::span<const Tensor> head_grads = {},
                          BackwardOptions options = {});
inline void backward(const Tensor& head, BackwardOptions options = {}) {
  backward(std::span(&head, 1), {}, options);
}

/// The gradients of `heads` with respect to `variables` (leaves), which are returned and not
/// written to the leaves. Throws as backward(), and Error{invalid} for a variable that no head
/// depends on.
THALWEG_API std::vector<Tensor> grad(std::span<const Tensor> heads,
                                     std::span<const Tensor> variables,
                                     std::span<const Tensor> head_grads = {},
                                     BackwardOptions options = {});
inline Tensor grad(const Tensor& head, const Tensor& variable, BackwardOptions options = {}) {
  return grad(std::span(&head, 1), std::span(&variable, 1), {}, options)[0];
}

/// The gradient of a leaf where backward() left only some of its rows: after products with sparse
/// matrices and embedding() with EmbeddingGradient::rows, if nothing else uses the leaf in another
/// way and nobody holds its grad(). Asking for grad() makes it dense.
THALWEG_API std::optional<RowGradient> row_gradient(const Tensor& leaf);

}  // namespace thalweg
