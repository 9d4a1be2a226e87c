#pragma once

// What a recipe names by its kind: a layer, an optimizer, a data set. A kind is one row of its
// family's table; no other list of kinds exists.

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cli/recipe/field.h"

namespace thalweg::cli {

/// One thing with its options, e.g. a dense layer. Families derive from it what they build.
class Part {
 public:
  virtual ~Part() = default;
  Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  /// The options, bound to this object.
  virtual Fields fields() = 0;
};

/// A row: `make` gives a part with the options' defaults.
struct Kind {
  std::string_view name;
  std::string_view doc;
  std::unique_ptr<Part> (*make)();
};

template <typename P>
std::unique_ptr<Part> make_part() {
  return std::make_unique<P>();
}

/// A part and the row that made it.
struct Chosen {
  const Kind* kind = nullptr;
  std::unique_ptr<Part> part;

  Chosen() = default;
  explicit Chosen(const Kind& row) : kind(&row), part(row.make()) {}
  /// The part as what its family's parts are.
  template <typename P>
  const P& as() const {
    return static_cast<const P&>(*part);
  }
};

/// The row called `name`, or null.
const Kind* find_kind(std::span<const Kind> kinds, std::string_view name);

std::vector<std::string_view> names_of(std::span<const Kind> kinds);

/// A table of a recipe: keys of its own, and those of the kind it names.
struct Section {
  std::string_view name;  ///< "data", "net.layer"
  std::string_view doc;
  Fields fields = {};
  std::string_view kind_key = {};  ///< the key that names the kind, if there are kinds
  std::span<const Kind> kinds = {};
  Chosen* chosen = nullptr;             ///< where a table's part goes
  std::vector<Chosen>* list = nullptr;  ///< where the parts of an array of tables go
};

}  // namespace thalweg::cli
