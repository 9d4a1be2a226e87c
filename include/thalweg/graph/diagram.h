#pragma once

// Pictures of nets and plans: boxes and what flows between them.

#include <string>
#include <vector>

#include <thalweg/base/export.h>

namespace thalweg {

/// A layer, or an op.
struct DiagramNode {
  std::string id = {};      ///< any unique text, e.g. "mlp.0"
  std::string label = {};   ///< e.g. "Dense(784 -> 64, linear)"
  std::string kind = {};    ///< gives the colour: "input", "dense", "conv", "pool", "norm" ...
  std::string detail = {};  ///< small print, e.g. "50,240 parameters"
};

/// What flows from one node into another.
struct DiagramEdge {
  std::string from = {}, to = {};  ///< ids of nodes
  std::string label = {};          ///< e.g. the shape, "64 x 784"
};

struct Diagram {
  std::vector<DiagramNode> nodes = {};
  std::vector<DiagramEdge> edges = {};  ///< without cycles
};

/// The diagram in Graphviz's DOT language, with MXNet's colours.
THALWEG_API std::string to_dot(const Diagram& diagram);

/// The diagram as an SVG file, laid out here: no other program is needed. Throws Error{invalid} if
/// an id occurs twice, an edge names an unknown node, or the edges form a cycle.
THALWEG_API std::string to_svg(const Diagram& diagram);

}  // namespace thalweg
