#pragma once

#include <memory>
#include <vector>

#include "model/form.h"
#include "model/imported_part.h"

namespace thalweg::model {

/// A graph that is run op by op through the table.
class ImportedGraph {
 public:
  /// `parts` are the form's layers.
  ImportedGraph(const Form& form, const FormGraph& graph,
                const std::vector<std::shared_ptr<ImportedPart>>& parts);

  std::vector<Tensor> run(std::span<const Tensor> arguments, const std::vector<Tensor>& tensors,
                          int64_t n) const;

 private:
  // Records that follow each other in one layer; what they read from before and what is read later.
  struct Call {
    size_t begin, end;
    ImportedPart* part;  // null: outside of all
    std::vector<int32_t> inputs;
    int32_t output;
  };

  void run_call(const Call& call, std::vector<Tensor>& values, int64_t n) const;
  void run_record(const FormRecord& r, std::vector<Tensor>& values, int64_t n) const;
  void find_calls(const std::vector<std::shared_ptr<ImportedPart>>& parts);

  const Form& form_;
  const FormGraph& graph_;
  std::vector<Call> calls_;
  std::vector<std::vector<int32_t>> last_used_;  // by call: what is not needed after it
  size_t values_ = 0;
};

}  // namespace thalweg::model
