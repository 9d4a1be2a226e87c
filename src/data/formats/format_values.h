#pragma once

// Options of formats, which come as texts, and what writers of tables have in common.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/data/format.h>

namespace thalweg::data {

/// FormatOptions::more and WriteOptions::more with their values. Throws Error{invalid}, naming
/// `format` and the option, for a text that is no such value.
class OptionValues {
 public:
  OptionValues(const char* format, const std::map<std::string, std::string>& values)
      : format_(format), values_(values) {}

  std::string text(const std::string& name, const std::string& otherwise = "") const;
  bool flag(const std::string& name, bool otherwise) const;
  int64_t number(const std::string& name, int64_t otherwise) const;
  std::optional<double> real(const std::string& name) const;
  char character(const std::string& name, char otherwise) const;
  /// Parts between commas; empty for none.
  std::vector<std::string> list(const std::string& name) const;

 private:
  const char* format_;
  const std::map<std::string, std::string>& values_;
};

/// Throws Error{invalid}, naming `format`, for streams that are sparse or of no fixed size.
void require_dense(const char* format, const std::vector<StreamInfo>& streams);

/// Throws Error{invalid} unless all streams of the sequence have one sample.
void require_single_samples(const char* format, const SequenceKey& key,
                            std::span<const StreamValues> values);

/// A number with as many digits as it takes to read it back.
void append_number(std::string& text, DType dtype, const void* values, int64_t i);

}  // namespace thalweg::data
