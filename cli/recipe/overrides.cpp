#include "cli/recipe/overrides.h"

#include <charconv>
#include <vector>

#include <thalweg/base/text.h>

#include "base/fail.h"

namespace thalweg::cli {
namespace {

std::vector<std::string> split(std::string_view key) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= key.size();) {
    const size_t end = std::min(key.find('.', begin), key.size());
    parts.emplace_back(key.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The TOML value, or the text itself if it is none: `--set data.set=spirals` needs no quotes.
toml::table parse_value(const std::string& value, const std::string& source) {
  if (value.find('\n') == std::string::npos) {
    try {
      toml::table table = toml::parse("value = " + value, source);
      if (table.size() == 1) return table;
    } catch (const toml::parse_error&) {
    } catch (const TomlAssertion&) {
    }
  }
  toml::table table = toml::parse("value = ''", source);
  *table.get_as<std::string>("value") = value;
  return table;
}

toml::node* entry_of(toml::array& list, const std::string& key, const std::string& source) {
  size_t index = list.size();
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error != std::errc() || end != key.data() + key.size() || index >= list.size()) {
    fail_invalid("recipe: there is no entry '{}'; {}; the list has entries 0 to {}", key, source,
                 static_cast<int64_t>(list.size()) - 1);
  }
  return list.get(index);
}

toml::node* child_of(toml::node* node, const std::string& key, const toml::source_region& region) {
  if (toml::array* list = node->as_array()) return entry_of(*list, key, *region.path);
  toml::table* table = node->as_table();
  if (!table) {
    fail_invalid("recipe: nothing can be set in a value; {}; it has no '{}'", *region.path, key);
  }
  if (!table->contains(key)) table->insert(toml::key(key, region), toml::table());
  return table->get(key);
}

}  // namespace

void apply_override(toml::table& root, const std::string& assignment) {
  const std::string source = kOverridePrefix + assignment;
  if (!is_utf8(assignment))
    fail_invalid("recipe: an override is not UTF-8, as recipes are; {}", source);
  const size_t equals = assignment.find('=');
  const std::vector<std::string> path = split(std::string_view(assignment).substr(0, equals));
  for (const std::string& part : path) {
    if (equals != std::string::npos && !part.empty()) continue;
    fail_invalid("recipe: an override is not key=value; {}; e.g. --set train.epochs=3", source);
  }
  toml::table value = parse_value(assignment.substr(equals + 1), source);
  const toml::source_region region = value.get("value")->source();
  toml::node* node = &root;
  for (size_t i = 0; i + 1 < path.size(); ++i) node = child_of(node, path[i], region);
  toml::table* table = node->as_table();
  if (!table) {
    fail_invalid("recipe: '{}' cannot be set there; {}; what it is part of is no table",
                 path.back(), source);
  }
  table->erase(path.back());
  // Only a moved node keeps its source.
  value.get("value")->visit(
      [&](auto& typed) { table->insert(toml::key(path.back(), region), std::move(typed)); });
}

}  // namespace thalweg::cli
