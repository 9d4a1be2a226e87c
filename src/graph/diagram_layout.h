#pragma once

// Places a net's layers on a plane: layers of equal depth share a row, long edges get a lane of
// their own. The method is Sugiyama's: depths by longest path, order by barycentres, positions by
// least squares.

#include <cstddef>
#include <string>
#include <vector>

#include <thalweg/graph/diagram.h>

namespace thalweg {

struct DiagramPoint {
  double x = 0, y = 0;
};

struct DiagramBox {
  double x = 0, y = 0;  // upper left corner, in pixels
};

/// The path of an edge: it leaves the bottom of its first box, and alternates between rows and the
/// gaps between rows. Even points begin a gap, odd points end it.
struct DiagramRoute {
  std::vector<DiagramPoint> points;
};

struct DiagramLayout {
  double width = 0, height = 0;
  double box_width = 0, box_height = 0;  // of every box
  std::vector<DiagramBox> boxes;         // by node
  std::vector<DiagramRoute> routes;      // by edge
};

/// Pixels that a text takes in a box, from its length: letters of 14 and 12 pixels are about 7.8
/// and 6.7 wide.
inline double label_width(size_t letters) { return 7.8 * static_cast<double>(letters); }
inline double detail_width(size_t letters) { return 6.7 * static_cast<double>(letters); }

/// What a box needs beside its texts: the mark, margins, and a gap between two texts.
inline double box_padding(const DiagramNode& node) { return node.detail.empty() ? 36 : 52; }

/// Throws Error invalid if an id occurs twice, an edge names an unknown node, or the edges form a
/// cycle.
DiagramLayout layout_diagram(const Diagram& net);

/// The diagram as an <svg> element whose colours are the page's.
std::string draw_diagram(const Diagram& net);

}  // namespace thalweg
