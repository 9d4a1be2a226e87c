#include <string_view>

#include <fmt/format.h>

#include <thalweg/graph/diagram.h>

#include "graph/diagram_colours.h"

namespace thalweg {
namespace {

// A line feed becomes DOT's own sign for one.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string to_dot(const Diagram& diagram) {
  std::string dot =
      "digraph net {\n"
      "  node [shape=box, style=filled, fontname=\"Helvetica\", fontsize=11];\n"
      "  edge [fontname=\"Helvetica\", fontsize=10, arrowhead=open];\n";
  for (const DiagramNode& node : diagram.nodes) {
    const bool is_end = node.kind == "input" || node.kind == "output";
    const std::string text =
        node.detail.empty() ? node.label : fmt::format("{}\n{}", node.label, node.detail);
    dot += fmt::format("  {} [label={}, fillcolor=\"{}\"{}];\n", quoted(node.id), quoted(text),
                       kind_colours(node.kind).fill, is_end ? ", shape=oval" : "");
  }
  for (const DiagramEdge& edge : diagram.edges) {
    dot += fmt::format("  {} -> {} [label={}];\n", quoted(edge.from), quoted(edge.to),
                       quoted(edge.label));
  }
  return dot + "}\n";
}

}  // namespace thalweg
