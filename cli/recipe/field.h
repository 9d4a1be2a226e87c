#pragma once

// A key of a recipe, bound to the variable that it sets. From one list of fields come reading,
// checking, writing and the reference page.

#include <cfloat>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace thalweg::cli {

/// A number of bytes; in a recipe an integer or a text such as "64 MiB".
struct ByteSize {
  uint64_t bytes = 0;
};

/// An integer whose default is below `min` has to be given.
struct Field {
  using Target =
      std::variant<bool*, int64_t*, double*, std::string*, ByteSize*, std::vector<int64_t>*,
                   std::vector<double>*, std::vector<std::string>*>;

  std::string_view key;
  Target target;
  std::string_view doc;
  double min = -DBL_MAX, max = DBL_MAX;        ///< of numbers, and of each number of a list
  std::vector<std::string_view> choices = {};  ///< of texts; empty: any text
};

using Fields = std::vector<Field>;

/// A text that is one of `choices`.
inline Field one_of(std::string_view key, std::string* target, std::string_view doc,
                    std::vector<std::string_view> choices) {
  return {key, target, doc, 0, 0, std::move(choices)};
}

/// "integer", "number", "text", "true or false", "list of numbers" ...
std::string_view type_of(const Field& field);

/// The value as TOML: `0.1`, `"relu"`, `[1.0, 2.0]`.
std::string value_text(const Field& field);

/// A text in TOML's quotes.
std::string quoted(std::string_view text);

}  // namespace thalweg::cli
