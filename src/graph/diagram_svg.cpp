#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/markup.h"
#include "graph/diagram_colours.h"
#include "graph/diagram_layout.h"

namespace thalweg {
namespace {

// For a file of its own; a page has a style sheet.
constexpr const char* kStyle = R"(<style>
.net { background: #fff; font-family: Helvetica, Arial, sans-serif; }
.net rect { fill: #fbfaf8; stroke: #c9c4bb; }
.net .mark { stroke: none; }
.net text { fill: #22262b; font-size: 14px; }
.net .detail { fill: #5b6570; font-size: 12px; text-anchor: end; }
.net .shape { fill: #5b6570; stroke: #fff; stroke-width: 4; paint-order: stroke; font-size: 12px; }
.net .edge { fill: none; stroke: #5b6570; stroke-width: 1.25; }
.net .head { fill: #5b6570; }
</style>
)";

// The text, or what fits of it and dots. The title of the box has all.
std::string shortened(const std::string& text, size_t letters) {
  if (text.size() <= letters) return escape(text);
  while (letters > 0 && (static_cast<uint8_t>(text[letters]) & 0xc0) == 0x80) --letters;
  return escape(text.substr(0, letters)) + "…";
}

// Letters of the label and of the detail that fit into a box; the label may take half of it, or
// more if the detail leaves more. The half pixel is for rounding.
std::pair<size_t, size_t> fitting_letters(const DiagramNode& node, double box_width) {
  const double room = box_width - box_padding(node) + 0.5;
  const double for_label = std::max(room / 2, room - detail_width(node.detail.size()));
  const auto label = std::min(node.label.size(), static_cast<size_t>(for_label / label_width(1)));
  return {label, static_cast<size_t>((room - label_width(label)) / detail_width(1))};
}

std::string draw_box(const DiagramNode& node, const DiagramBox& box, const DiagramLayout& layout) {
  const double middle = box.y + layout.box_height / 2 + 5;
  const auto [label, detail] = fitting_letters(node, layout.box_width);
  return fmt::format(
      "<g class=\"node kind-{}\"><title>{} ({}) {}</title>"
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\"/>"
      "<rect class=\"mark\" style=\"fill:{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"5\" "
      "height=\"{:.1f}\" rx=\"2.5\"/>"
      "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>"
      "<text class=\"detail\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
      slug(node.kind), escape(node.label), escape(node.kind), escape(node.detail), box.x, box.y,
      layout.box_width, layout.box_height, kind_colours(node.kind).mark, box.x + 6, box.y + 7,
      layout.box_height - 14, box.x + 20, middle, shortened(node.label, label),
      box.x + layout.box_width - 12, middle, shortened(node.detail, detail));
}

// Straight through rows, a curve in the gaps; the arrow's head takes the last pixels.
std::string draw_route(const DiagramRoute& route) {
  std::string path;
  for (size_t i = 0; i + 1 < route.points.size(); i += 2) {
    const DiagramPoint& from = route.points[i];
    DiagramPoint to = route.points[i + 1];
    if (i + 2 == route.points.size()) to.y -= 5;
    const double bend = (from.y + to.y) / 2;
    path += fmt::format("{}{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}",
                        i == 0 ? "M" : "L", from.x, from.y, from.x, bend, to.x, bend, to.x, to.y);
  }
  return fmt::format("<path class=\"edge\" d=\"{}\" marker-end=\"url(#arrow)\"/>\n", path);
}

// Beside an edge's start, where it has not met another yet.
DiagramPoint label_place(const DiagramRoute& route) {
  const bool straight = route.points[0].x == route.points[1].x;
  return {route.points[0].x + 9, route.points[0].y + (straight ? 22 : 14)};
}

std::string draw_edge_label(const std::string& text, const DiagramRoute& route) {
  const DiagramPoint at = label_place(route);
  return fmt::format("<text class=\"shape\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", at.x, at.y,
                     escape(text));
}

// Labels may need more room than the boxes.
double needed_width(const Diagram& net, const DiagramLayout& layout) {
  double width = layout.width;
  for (size_t i = 0; i < net.edges.size(); ++i) {
    const double length = detail_width(net.edges[i].label.size());
    width = std::max(width, label_place(layout.routes[i]).x + length);
  }
  return width;
}

}  // namespace

std::string draw_diagram(const Diagram& net) {
  const DiagramLayout layout = layout_diagram(net);
  const double width = needed_width(net, layout);
  std::string svg = fmt::format(
      "<svg id=\"net-diagram\" class=\"net\" role=\"img\" aria-label=\"Diagram of the net: {} "
      "layers, "
      "{} connections\" width=\"{:.0f}\" height=\"{:.0f}\" viewBox=\"0 0 {:.0f} {:.0f}\">\n"
      "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"3\" refY=\"4\" markerWidth=\"7\" "
      "markerHeight=\"7\" orient=\"auto\"><path class=\"head\" d=\"M0 0 8 4 0 "
      "8z\"/></marker></defs>\n",
      net.nodes.size(), net.edges.size(), width, layout.height, width, layout.height);
  for (const DiagramRoute& route : layout.routes) svg += draw_route(route);
  for (size_t i = 0; i < net.nodes.size(); ++i)
    svg += draw_box(net.nodes[i], layout.boxes[i], layout);
  // One value may flow to several layers: its shape is written once.
  std::set<std::pair<std::string, std::string>> written;
  for (size_t i = 0; i < net.edges.size(); ++i) {
    const DiagramEdge& edge = net.edges[i];
    if (!edge.label.empty() && written.emplace(edge.from, edge.label).second)
      svg += draw_edge_label(edge.label, layout.routes[i]);
  }
  return svg + "</svg>\n";
}

std::string to_svg(const Diagram& diagram) {
  std::string svg = draw_diagram(diagram);
  const size_t head = svg.find(">\n") + 2;
  svg.insert(head, kStyle);
  svg.insert(svg.find(" id="), " xmlns=\"http://www.w3.org/2000/svg\"");
  return svg;
}

}  // namespace thalweg
