#include <algorithm>
#include <array>

#include <thalweg/base/text.h>
#include <thalweg/nn/summary.h>

#include "base/fail.h"

namespace thalweg::nn {
namespace {

constexpr size_t kColumns = 4;
using Row = std::array<std::string, kColumns>;

// "50,240"
std::string grouped(int64_t count) {
  std::string digits = std::to_string(count);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string operations_text(int64_t count) { return format_count(static_cast<uint64_t>(count)); }

Row row_of(const LayerSummary& layer) {
  const std::string& text = layer.description;
  return {layer.name.empty() ? text : layer.name + "  " + text, to_string(layer.output),
          grouped(layer.parameters), operations_text(layer.operations)};
}

// The first two columns to the left, numbers to the right.
std::string table(const std::vector<Row>& rows) {
  std::array<size_t, kColumns> widths = {};
  for (const Row& row : rows) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const size_t width = widths[0] + widths[1] + widths[2] + widths[3] + 2 * (kColumns - 1);
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    text += fmt::format("{:<{}}  {:<{}}  {:>{}}  {:>{}}\n", row[0], widths[0], row[1], widths[1],
                        row[2], widths[2], row[3], widths[3]);
    if (i == 0) text += std::string(width, '-') + "\n";
  }
  return text + std::string(width, '-') + "\n";
}

}  // namespace

std::string to_string(const NetSummary& summary) {
  std::vector<Row> rows = {{"Layer", "Output", "Parameters", "Operations"},
                           {"input", to_string(summary.input), "", ""}};
  for (const LayerSummary& layer : summary.layers) rows.push_back(row_of(layer));
  std::string text = table(rows);
  text += fmt::format("Parameters: {}", grouped(summary.parameters));
  if (summary.trainable != summary.parameters) {
    text += fmt::format(", {} of them trainable", grouped(summary.trainable));
  }
  text += fmt::format(" ({}; gradients {})\n", format_bytes(summary.parameter_bytes),
                      format_bytes(summary.gradient_bytes));
  text += fmt::format("Operations: {} in one call; the layers' outputs take {}\n",
                      operations_text(summary.operations), format_bytes(summary.output_bytes));
  return text;
}

}  // namespace thalweg::nn
