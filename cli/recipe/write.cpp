#include "cli/recipe/write.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace thalweg::cli {
namespace {

// The lines `key = value` of a table, its kind first.
std::string lines_of(const Section& section, const Chosen* chosen) {
  std::string text;
  if (chosen) text += fmt::format("{} = {}\n", section.kind_key, quoted(chosen->kind->name));
  if (chosen) {
    for (const Field& field : chosen->part->fields()) {
      text += fmt::format("{} = {}\n", field.key, value_text(field));
    }
  }
  for (const Field& field : section.fields) {
    text += fmt::format("{} = {}\n", field.key, value_text(field));
  }
  return text;
}

std::string range_text(const Field& field) {
  if (!field.choices.empty()) {
    std::vector<std::string> choices;
    for (const std::string_view choice : field.choices)
      choices.push_back(fmt::format("`{}`", choice));
    return fmt::format("one of {}", fmt::join(choices, ", "));
  }
  std::string text(type_of(field));
  if (field.min != -DBL_MAX && field.max != DBL_MAX) {
    text += fmt::format(" in {} .. {}", field.min, field.max);
  } else if (field.min != -DBL_MAX) {
    text += fmt::format(", at least {}", field.min);
  }
  return text;
}

std::string default_text(const Field& field) {
  const auto* value = std::get_if<int64_t*>(&field.target);
  if (value && static_cast<double>(**value) < field.min) return "to be given";
  return fmt::format("`{}`", value_text(field));
}

std::string reference_of(const Fields& fields) {
  if (fields.empty()) return "No options.\n";
  std::string text = "| key | value | default | meaning |\n|---|---|---|---|\n";
  for (const Field& field : fields) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", field.key, range_text(field),
                        default_text(field), field.doc);
  }
  return text;
}

std::string reference_of(const Section& section) {
  const std::string heading =
      section.list ? fmt::format("[[{}]]", section.name) : fmt::format("[{}]", section.name);
  std::string text = fmt::format("\n## {}\n\n{}\n", heading, section.doc);
  if (!section.fields.empty()) text += "\n" + reference_of(section.fields);
  // Neighbours with the same options share a table.
  for (size_t i = 0, next = 0; i < section.kinds.size(); i = next) {
    const std::string options = reference_of(section.kinds[i].make()->fields());
    std::string names, docs;
    for (next = i; next < section.kinds.size(); ++next) {
      const Kind& kind = section.kinds[next];
      if (next > i && reference_of(kind.make()->fields()) != options) break;
      names += fmt::format("{}\"{}\"", next > i ? ", " : "", kind.name);
      docs += fmt::format("- `{}`: {}\n", kind.name, kind.doc);
    }
    text += fmt::format("\n### {} = {}\n\n{}\n{}", section.kind_key, names, docs, options);
  }
  return text;
}

}  // namespace

std::string write_recipe(std::span<const Section> sections) {
  std::string text;
  const auto add = [&](std::string_view heading, const std::string& lines) {
    text += fmt::format("{}{}\n{}", text.empty() ? "" : "\n", heading, lines);
  };
  for (const Section& section : sections) {
    if (!section.list) {
      add(fmt::format("[{}]", section.name), lines_of(section, section.chosen));
      continue;
    }
    for (const Chosen& chosen : *section.list) {
      add(fmt::format("[[{}]]", section.name), lines_of(section, &chosen));
    }
  }
  return text;
}

std::string recipe_reference(std::span<const Section> sections) {
  std::string text =
      "# Recipes\n\n"
      "A recipe is a TOML file that says what to train: `thalweg train FILE`. Every table and key "
      "is\n"
      "here; a key that is left out has its default. On the command line `--set TABLE.KEY=VALUE`\n"
      "overrides a key, and an entry of a list of tables is named by its number: `--set\n"
      "net.layer.0.units=128`. This page is what `thalweg train --keys` prints.\n";
  for (const Section& section : sections) text += reference_of(section);
  return text;
}

std::vector<std::pair<std::string, std::string>> recipe_settings(
    std::span<const Section> sections) {
  std::vector<std::pair<std::string, std::string>> settings;
  const auto add = [&](const std::string& table, const Section& section, const Chosen* chosen) {
    if (chosen) {
      settings.emplace_back(fmt::format("{}.{}", table, section.kind_key),
                            quoted(chosen->kind->name));
      for (const Field& field : chosen->part->fields()) {
        settings.emplace_back(fmt::format("{}.{}", table, field.key), value_text(field));
      }
    }
    for (const Field& field : section.fields) {
      settings.emplace_back(fmt::format("{}.{}", table, field.key), value_text(field));
    }
  };
  for (const Section& section : sections) {
    if (!section.list) {
      add(std::string(section.name), section, section.chosen);
      continue;
    }
    for (size_t i = 0; i < section.list->size(); ++i) {
      add(fmt::format("{}.{}", section.name, i), section, &(*section.list)[i]);
    }
  }
  return settings;
}

}  // namespace thalweg::cli
