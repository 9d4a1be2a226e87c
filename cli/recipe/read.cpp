#include "cli/recipe/read.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <thalweg/base/text.h>

#include "base/fail.h"
#include "cli/recipe/overrides.h"

namespace thalweg::cli {
namespace {

// One line, whatever bytes a recipe holds.
std::string printable(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return line;
}

std::string where(const toml::source_region& source) {
  const std::string path = source.path ? *source.path : "";
  // An override is quoted whole: it is its own place.
  if (path.starts_with(kOverridePrefix)) return printable(path);
  return fmt::format("{}:{}", path, source.begin.line);
}

std::string joined(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string_view type_name(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "a list";
  if (node.is_string()) return "a text";
  if (node.is_integer()) return "an integer";
  if (node.is_floating_point()) return "a number";
  if (node.is_boolean()) return "a truth value";
  return "a date or time";
}

std::string found_text(const toml::node& node) {
  std::ostringstream text;
  if (const auto* value = node.as_string()) {
    text << quoted(value->get());
  } else if (!node.is_table() && !node.is_array()) {
    node.visit([&](const auto& typed) { text << typed; });
  }
  return fmt::format("{}{}{}", text.str(), text.str().empty() ? "" : ", ", type_name(node));
}

// Puts values into the variables of a field.
class Setter {
 public:
  Setter(const Field& field, const std::string& path, const toml::node& node)
      : field_(field), path_(path), node_(node) {}

  void operator()(bool* to) const {
    if (!node_.is_boolean()) throw_type(node_);
    *to = **node_.as_boolean();
  }
  void operator()(int64_t* to) const { *to = integer(node_); }
  void operator()(double* to) const { *to = number(node_); }
  void operator()(std::string* to) const { *to = text(node_); }
  void operator()(ByteSize* to) const {
    if (node_.is_integer()) {
      to->bytes = static_cast<uint64_t>(integer(node_));
      return;
    }
    const auto bytes = node_.is_string() ? parse_bytes(node_.as_string()->get()) : std::nullopt;
    if (!bytes) throw_type(node_);
    to->bytes = *bytes;
  }
  void operator()(std::vector<int64_t>* to) const {
    set_list(to, [&](const toml::node& node) { return integer(node); });
  }
  void operator()(std::vector<double>* to) const {
    set_list(to, [&](const toml::node& node) { return number(node); });
  }
  void operator()(std::vector<std::string>* to) const {
    set_list(to, [&](const toml::node& node) { return text(node); });
  }

 private:
  [[noreturn]] void throw_type(const toml::node& node) const {
    fail_invalid("recipe: '{}' has the wrong type; {}: expected {}, found {}", path_,
                 where(node.source()), type_of(field_), found_text(node));
  }

  template <typename T>
  T in_range(T value, const toml::node& node) const {
    const auto as_double = static_cast<double>(value);
    if (as_double >= field_.min && as_double <= field_.max) return value;  // NaN is in no range
    const bool too_small = as_double < field_.min;
    fail_invalid("recipe: '{}' is out of range; {}: expected at {} {}, found {}", path_,
                 where(node.source()), too_small ? "least" : "most",
                 too_small ? field_.min : field_.max, value);
  }

  int64_t integer(const toml::node& node) const {
    if (!node.is_integer()) throw_type(node);
    return in_range(**node.as_integer(), node);
  }

  double number(const toml::node& node) const {
    if (node.is_integer()) return static_cast<double>(integer(node));
    if (!node.is_floating_point()) throw_type(node);
    return in_range(**node.as_floating_point(), node);
  }

  std::string text(const toml::node& node) const {
    if (!node.is_string()) throw_type(node);
    const std::string& value = node.as_string()->get();
    const auto& choices = field_.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
      fail_invalid("recipe: '{}' cannot be {}; {}: one of {}{}", path_, quoted(value),
                   where(node.source()), fmt::join(choices, ", "), did_you_mean(value, choices));
    }
    return value;
  }

  template <typename T, typename Convert>
  void set_list(std::vector<T>* to, Convert convert) const {
    to->clear();
    const toml::array* list = node_.as_array();
    if (!list) {
      to->push_back(convert(node_));
      return;
    }
    for (const toml::node& element : *list) to->push_back(convert(element));
  }

  const Field& field_;
  const std::string& path_;
  const toml::node& node_;
};

class RecipeReader {
 public:
  RecipeReader(std::string name, std::vector<Section> sections)
      : name_(std::move(name)), sections_(std::move(sections)) {}

  void read(const toml::table& root) {
    read_table("", root, {}, {});
    for (const Section& section : sections_) {
      if (section.chosen && !section.chosen->kind) throw_no_kind(section, section.name, name_);
    }
  }

 private:
  // `fields` are the keys of the table, which may hold tables of their own as well.
  void read_table(const std::string& path, const toml::table& table, const Fields& fields,
                  std::string_view kind_key) {
    for (const auto& [key, node] : table) {
      if (!kind_key.empty() && key == kind_key) continue;
      const std::string full = joined(path, key.str());
      const auto field = std::find_if(fields.begin(), fields.end(),
                                      [&](const Field& f) { return f.key == key.str(); });
      if (field != fields.end()) {
        std::visit(Setter(*field, full, node), field->target);
      } else if (const Section* section = find_section(full)) {
        read_section(*section, full, node);
      } else if (has_section_below(full)) {
        if (!node.is_table()) throw_shape(full, node, "a table");
        read_table(full, *node.as_table(), {}, {});
      } else {
        throw_unknown(path, key, fields, kind_key);
      }
    }
  }

  void read_section(const Section& section, const std::string& path, const toml::node& node) {
    if (!section.list) {
      if (!node.is_table()) throw_shape(path, node, "a table");
      read_entry(section, path, *node.as_table(), section.chosen);
      return;
    }
    if (!node.is_array()) throw_shape(path, node, fmt::format("a list of tables, [[{}]]", path));
    section.list->clear();
    size_t number = 0;
    for (const toml::node& entry : *node.as_array()) {
      const std::string place = joined(path, std::to_string(number++));
      if (!entry.is_table()) throw_shape(place, entry, "a table");
      read_entry(section, place, *entry.as_table(), &section.list->emplace_back());
    }
  }

  void read_entry(const Section& section, const std::string& path, const toml::table& table,
                  Chosen* chosen) {
    Fields fields = section.fields;
    if (chosen) {
      choose(section, path, table, chosen);
      const Fields own = chosen->part->fields();
      fields.insert(fields.end(), own.begin(), own.end());
    }
    read_table(path, table, fields, section.kind_key);
    for (const Field& field : fields) check_given(field, path, table);
  }

  // A key whose default is out of its range has to be given.
  void check_given(const Field& field, const std::string& path, const toml::table& table) const {
    const auto* value = std::get_if<int64_t*>(&field.target);
    if (!value || static_cast<double>(**value) >= field.min) return;
    fail_invalid("recipe: '{}' is missing; {}; give an {}, at least {}", joined(path, field.key),
                 place_of(table), type_of(field), field.min);
  }

  std::string place_of(const toml::table& table) const {
    return table.source().path ? where(table.source()) : name_;
  }

  void choose(const Section& section, const std::string& path, const toml::table& table,
              Chosen* chosen) const {
    const toml::node* node = table.get(section.kind_key);
    if (!node) {
      if (!chosen->kind) throw_no_kind(section, path, place_of(table));
      return;
    }
    const std::vector<std::string_view> names = names_of(section.kinds);
    std::string name;
    const Field field = one_of(section.kind_key, &name, "", names);
    std::visit(Setter(field, joined(path, section.kind_key), *node), field.target);
    *chosen = Chosen(*find_kind(section.kinds, name));
  }

  const Section* find_section(std::string_view name) const {
    for (const Section& section : sections_) {
      if (section.name == name) return &section;
    }
    return nullptr;
  }

  bool has_section_below(const std::string& path) const {
    return std::any_of(sections_.begin(), sections_.end(), [&](const Section& section) {
      return section.name.starts_with(path + ".");
    });
  }

  [[noreturn]] static void throw_no_kind(const Section& section, std::string_view path,
                                         const std::string& place) {
    fail_invalid("recipe: '{}' is missing; {}; give one of {}", joined(path, section.kind_key),
                 place, fmt::join(names_of(section.kinds), ", "));
  }

  [[noreturn]] static void throw_shape(const std::string& path, const toml::node& node,
                                       std::string_view expected) {
    fail_invalid("recipe: '{}' has the wrong type; {}: expected {}, found {}", path,
                 where(node.source()), expected, found_text(node));
  }

  [[noreturn]] void throw_unknown(const std::string& path, const toml::key& key,
                                  const Fields& fields, std::string_view kind_key) const {
    std::vector<std::string_view> known;
    if (!kind_key.empty()) known.push_back(kind_key);
    for (const Field& field : fields) known.push_back(field.key);
    const std::string prefix = path.empty() ? "" : path + ".";
    for (const Section& section : sections_) {
      const std::string_view name = section.name;
      if (!name.starts_with(prefix)) continue;
      const std::string_view rest = name.substr(prefix.size());
      const std::string_view next = rest.substr(0, rest.find('.'));
      if (std::find(known.begin(), known.end(), next) == known.end()) known.push_back(next);
    }
    std::string hint = did_you_mean(key.str(), known);
    if (hint.empty()) {
      hint = known.empty() ? std::string("; it has no options")
                           : fmt::format("; known are {}", fmt::join(known, ", "));
    }
    fail_invalid("recipe: unknown key '{}'; {}{}", printable(joined(path, key.str())),
                 where(key.source()), hint);
  }

  std::string name_;
  std::vector<Section> sections_;
};

// The number of the first line `[x` or `[[x` where x begins no name; 0 if there is none.
int line_of_bad_header(std::string_view text) {
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t open = line.find_first_not_of(" \t");
    if (open == std::string_view::npos || line[open] != '[') continue;
    const size_t at = line.find_first_not_of(" \t", line.find_first_not_of('[', open));
    if (at == std::string_view::npos) continue;
    const auto c = static_cast<unsigned char>(line[at]);
    if (!std::isalnum(c) && std::string_view("_-\"'").find(line[at]) == std::string_view::npos) {
      return number;
    }
  }
  return 0;
}

toml::table parse(std::string_view text, const std::string& name) {
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    fail_invalid("recipe: {}; {}, column {}", printable(error.description()), where(error.source()),
                 error.source().begin.column);
  } catch (const TomlAssertion&) {
    fail_invalid("recipe: a table has no name; {}:{}; e.g. [train]", name,
                 line_of_bad_header(text));
  }
}

}  // namespace

void read_recipe(std::string_view text, const std::string& name,
                 std::span<const std::string> overrides, std::vector<Section> sections) {
  toml::table root = parse(text, name);
  for (const std::string& assignment : overrides) apply_override(root, assignment);
  RecipeReader(name, std::move(sections)).read(root);
}

}  // namespace thalweg::cli
