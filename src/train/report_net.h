#pragma once

// Places a net's layers on a plane: layers of equal depth share a row, long edges get a lane of
// their own. The method is Sugiyama's: depths by longest path, order by barycentres, positions by
// least squares.

#include <cstddef>
#include <string>
#include <vector>

#include <thalweg/train/report.h>

namespace thalweg::train {

struct NetPoint {
  double x = 0, y = 0;
};

struct NetBox {
  double x = 0, y = 0;  // upper left corner, in pixels
};

/// The path of an edge: it leaves the bottom of its first box, and alternates between rows and the
/// gaps between rows. Even points begin a gap, odd points end it.
struct NetRoute {
  std::vector<NetPoint> points;
};

struct NetLayout {
  double width = 0, height = 0;
  double box_width = 0, box_height = 0;  // of every box
  std::vector<NetBox> boxes;             // by node
  std::vector<NetRoute> routes;          // by edge
};

/// Throws Error invalid if an id occurs twice, an edge names an unknown node, or the edges form a
/// cycle.
NetLayout layout_net(const ReportNet& net);

/// The diagram as an <svg> element whose colours are the page's.
std::string draw_net(const ReportNet& net);

}  // namespace thalweg::train
