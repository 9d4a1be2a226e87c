#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace thalweg::data {

struct CsvField {
  std::string_view text;  // without quotes
  size_t place = 0;       // of its first byte in the row
  bool quoted = false;
};

/// Cuts rows into fields.
class CsvSplitter {
 public:
  explicit CsvSplitter(char delimiter) : delimiter_(delimiter) {}

  /// The fields of a row; valid until the next call and as long as the row. Throws Error{io} with
  /// `where`, a file and line, for quotes that do not fit.
  const std::vector<CsvField>& split(std::string_view row, const std::string& where);

 private:
  size_t split_quoted(std::string_view row, size_t at, const std::string& where);

  char delimiter_;
  std::vector<CsvField> fields_;
  std::string unquoted_;  // of fields that hold doubled quotes
};

/// The place after the LF that ends the row at `at`, which is not in quotes; npos if there is none.
size_t csv_row_end(std::string_view text, size_t at, char delimiter);

/// `text` as a field: in quotes if it must be.
std::string csv_field(std::string_view text, char delimiter);

}  // namespace thalweg::data
