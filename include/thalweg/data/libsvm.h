#pragma once

// LIBSVM, also SVMlight and XGBoost's text: `label [qid:n] index:value index:value ... [#
// comment]`.

#include <span>
#include <string>
#include <vector>

#include <thalweg/base/writer.h>
#include <thalweg/data/wrapped_deserializer.h>

namespace thalweg::data {

struct LIBSVMOptions {
  int64_t dim = 0;         // features of a sample; must be given
  int64_t index_base = 1;  // the number of the first feature in the file: 1 or 0
  bool sort = false;       // puts features of a row in order; else rows out of order are bad
  std::string features = "features";  // names of the streams
  std::string label = "label";
  /// The texts that stand for labels 0, 1, ..., such as {"-1", "+1"}; others are bad and the stream
  /// is i64. Empty: labels are numbers, f32.
  std::vector<std::string> class_names = {};
  int64_t max_errors = 0;  // bad rows that are dropped; one more is an error
};

/// Reads a LIBSVM file, plain, gzip or zstd, a chunk at a time: a sparse stream f32 [dim] and a
/// stream of labels []. Empty rows and rows that are a comment are no samples; a label alone is one
/// without features. A qid is checked and left out. A feature that comes twice, is not below `dim`
/// or is not `index:value` makes a row bad.
class THALWEG_API LIBSVMDeserializer final : public WrappedDeserializer {
 public:
  explicit LIBSVMDeserializer(const std::string& path, LIBSVMOptions options);
};

/// Appends a row: `columns` count from 0 and are written from `index_base` on. Values are written
/// with as many digits as it takes to read them back. Throws Error{invalid} for spans of unequal
/// length.
THALWEG_API void write_libsvm_row(Writer& writer, float label, std::span<const int32_t> columns,
                                  std::span<const float> values, int64_t index_base = 1);

}  // namespace thalweg::data
