#pragma once

// A model as records: what a function did to its arguments, op by op, with sizes that follow the
// batch.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <thalweg/model/safetensors.h>

#include "graph/plan_graph.h"

namespace thalweg::model {

/// factor * N + plus, N being the batch's size.
struct Size {
  int64_t factor = 0;
  int64_t plus = 0;

  /// Nothing where it is beyond 63 bits.
  std::optional<int64_t> at(int64_t n) const;
  friend bool operator==(const Size&, const Size&) = default;
};
using Sizes = std::vector<Size>;

struct FormMeta {
  DType dtype = DType::f32;
  Sizes shape;
};

/// An element of an attribute that follows the batch: `size`, or size / (size - 1), the factor of
/// an unbiased variance.
struct FormVarying {
  uint32_t field = 0;
  uint32_t element = 0;  // of dims
  Size size;
  bool unbiased = false;
};

inline constexpr int32_t kAbsent = -1;

/// Values are numbered: arguments, then tensors, then what records compute.
struct FormRecord {
  const Op* op = nullptr;
  AttrBytes attrs;  // as of the exported batch
  std::vector<FormVarying> varying;
  std::vector<int32_t> inputs;  // kAbsent: an optional one that was left out
  std::vector<int32_t> outputs;
  std::vector<FormMeta> metas;  // of outputs
  int32_t into = kAbsent;       // the tensor it changes in place, in place of outputs
  bool paused = false;          // runs without a history
  int32_t layer = kAbsent;
};

struct FormGraph {
  std::vector<FormRecord> records;
  std::vector<int32_t> results;
};

struct FormTensor {
  enum class Kind : uint8_t {
    parameter,  // trained
    state,      // a parameter without a gradient: running statistics
    constant,
    fill  // a constant of one number, whose shape may follow the batch
  };
  Kind kind = Kind::parameter;
  std::string name;
  FormMeta meta;
  double fill = 0;
  Tensor data;  // but of fill
};

struct FormLayer {
  std::string path;
  std::string type;
  std::string text;  // as it is printed; of a layer with children empty
};

struct Form {
  int64_t batch = 0;        // the size that the attributes are of
  int64_t batch_axis = 0;   // of the arguments
  std::string fixed_batch;  // why no other size is possible; empty if others are
  std::vector<FormMeta> inputs;
  std::vector<FormTensor> tensors;
  std::vector<FormLayer> layers;
  FormGraph prediction;
  std::optional<FormGraph> training;  // where it is another

  size_t first_computed() const { return inputs.size() + tensors.size(); }
};

/// The sizes for a batch of n. Throws Error{invalid} where they are no shape.
Shape shape_at(const Sizes& sizes, int64_t n, const char* op);

/// The attributes of a record for a batch of n.
AttrBytes attrs_at(const FormRecord& record, int64_t n);

/// Checks that ops take what the records give them, for a batch of n; nothing is computed. Throws
/// Error{invalid}, beginning with `place` and the record's number.
void check_graph(const Form& form, const FormGraph& graph, int64_t n, const std::string& place);

}  // namespace thalweg::model
