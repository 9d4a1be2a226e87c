#include "cli/recipe/part.h"

namespace thalweg::cli {

const Kind* find_kind(std::span<const Kind> kinds, std::string_view name) {
  for (const Kind& kind : kinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::vector<std::string_view> names_of(std::span<const Kind> kinds) {
  std::vector<std::string_view> names;
  for (const Kind& kind : kinds) names.push_back(kind.name);
  return names;
}

}  // namespace thalweg::cli
