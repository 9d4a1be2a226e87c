#pragma once

#include "model/form.h"
#include "model/recording.h"

namespace thalweg::model {

/// Several recordings of one function, of batches of these sizes.
struct Recordings {
  std::vector<int64_t> batches;
  std::vector<RawGraph> graphs;
};

/// Appends the constants of a graph to the form's tensors; the recordings agree.
void add_constants(Form& form, const Recordings& recordings);

/// One graph whose sizes follow the batch. The form has all its tensors; those that
/// add_constants() made of the same recordings begin at `first_constant`.
FormGraph graph_of(const Form& form, const Recordings& recordings, size_t first_constant);

/// What keeps the recordings from being one graph; empty if nothing does.
std::string disagreement(const Recordings& recordings);

/// The size that is values[i] for batches[i], if there is one.
std::optional<Size> size_of(const std::vector<int64_t>& batches,
                            const std::vector<int64_t>& values);

}  // namespace thalweg::model
