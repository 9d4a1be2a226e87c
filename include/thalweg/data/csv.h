#pragma once

// Comma- or tab-separated values (RFC 4180): rows are samples, columns are put together to streams.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <thalweg/data/wrapped_deserializer.h>

namespace thalweg::data {

/// One stream of a CSV file.
struct CSVStream {
  std::string name;
  /// Its columns in order, by their names or, without a header, numbers from 0; "a..b" is all from
  /// a to b and "*" all that no other stream names. Empty: the one column called `name`.
  std::vector<std::string> columns = {};
  DType dtype = DType::f32;
  /// What a missing value becomes; none: a missing value is an error.
  std::optional<double> missing = {};
  /// The texts that stand for 0, 1, ...; others are errors. Empty: the column holds numbers.
  std::vector<std::string> class_names = {};
};

struct CSVOptions {
  char delimiter = ',';  // '\t' for TSV
  bool header = true;    // the first row names the columns
  char decimal = '.';    // the sign before a fraction
  /// Texts that stand for a missing value, as an empty field does.
  std::vector<std::string> missing_texts = {};
  /// The column by whose value rows are paired with those of other deserializers; rows of one value
  /// that follow each other are one sequence. "": every row is a sequence without a key.
  std::string key = {};
  int64_t max_errors = 0;  // bad rows that are dropped; one more is an error
};

/// Reads a CSV file, plain, gzip or zstd, a chunk at a time. A stream has the shape [columns], or
/// [] if it names one column. Blank rows are skipped. Rows with another number of fields than the
/// header (the first row), values that are not of the stream's dtype and malformed quotes are bad.
class THALWEG_API CSVDeserializer final : public WrappedDeserializer {
 public:
  /// No streams: columns NAME_0, NAME_1, ... that follow each other are one stream NAME, others one
  /// each, all f32, missing values being NaN; a first column called "key" is the key.
  explicit CSVDeserializer(const std::string& path, std::vector<CSVStream> streams = {},
                           CSVOptions options = {});
};

}  // namespace thalweg::data
