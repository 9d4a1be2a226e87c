#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/data/deserializer.h>

namespace thalweg::data {

/// Keys of sequences as they stand in a text file. They are numbers if all of them are.
class KeyColumn {
 public:
  void push_back(std::string_view text);

  bool empty() const { return ends_.empty(); }
  KeyKind kind() const {
    return empty() ? KeyKind::position : are_numbers_ ? KeyKind::number : KeyKind::text;
  }
  /// Key `i`; `i` itself if there are none.
  SequenceKey operator[](int64_t i) const;

 private:
  std::string text_;
  std::vector<uint64_t> ends_;  // in text_
  bool are_numbers_ = true;
};

}  // namespace thalweg::data
