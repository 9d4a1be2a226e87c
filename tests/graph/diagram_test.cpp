#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/error.h>

#include "graph/diagram_layout.h"

namespace thalweg {
namespace {

using testing::HasSubstr;

Diagram net_of(const std::string& ids, const std::vector<std::string>& edges) {
  Diagram net;
  for (const char id : ids) net.nodes.push_back({std::string(1, id), "layer", "dense", ""});
  for (const std::string& edge : edges)
    net.edges.push_back({edge.substr(0, 1), edge.substr(1, 1), "64"});
  return net;
}

void expect_apart(const DiagramLayout& layout) {
  for (size_t a = 0; a < layout.boxes.size(); ++a) {
    EXPECT_GE(layout.boxes[a].x, 0);
    EXPECT_LE(layout.boxes[a].x + layout.box_width, layout.width);
    EXPECT_LE(layout.boxes[a].y + layout.box_height, layout.height);
    for (size_t b = a + 1; b < layout.boxes.size(); ++b)
      EXPECT_TRUE(std::abs(layout.boxes[a].x - layout.boxes[b].x) >= layout.box_width ||
                  std::abs(layout.boxes[a].y - layout.boxes[b].y) >= layout.box_height)
          << a << " and " << b << " overlap";
  }
}

TEST(DiagramLayout, PutsAChainInOneColumn) {
  const DiagramLayout layout = layout_diagram(net_of("abc", {"ab", "bc"}));
  expect_apart(layout);
  EXPECT_DOUBLE_EQ(layout.boxes[0].x, layout.boxes[2].x);
  EXPECT_LT(layout.boxes[0].y, layout.boxes[1].y);
  EXPECT_LT(layout.boxes[1].y, layout.boxes[2].y);
}

TEST(DiagramLayout, DoesNotDependOnTheOrderOfNodes) {
  const DiagramLayout layout = layout_diagram(net_of("cab", {"bc", "ab"}));
  EXPECT_GT(layout.boxes[0].y, layout.boxes[2].y);
  EXPECT_GT(layout.boxes[2].y, layout.boxes[1].y);
}

TEST(DiagramLayout, LeadsALongEdgeAroundTheBoxesThatItPasses) {
  const DiagramLayout layout = layout_diagram(net_of("abcd", {"ab", "bc", "cd", "ad"}));
  expect_apart(layout);
  const DiagramRoute& skip = layout.routes[3];
  ASSERT_EQ(skip.points.size(), 6U);
  for (size_t i = 1; i + 1 < skip.points.size(); ++i)
    EXPECT_TRUE(skip.points[i].x < layout.boxes[1].x ||
                skip.points[i].x > layout.boxes[1].x + layout.box_width);
}

TEST(DiagramLayout, PutsALateInputBesideItsUse) {
  const DiagramLayout layout = layout_diagram(net_of("abcy", {"ab", "bc", "yc"}));
  expect_apart(layout);
  EXPECT_DOUBLE_EQ(layout.boxes[3].y, layout.boxes[1].y);
}

TEST(DiagramLayout, KeepsManyBranchesApartAndUncrossed) {
  const DiagramLayout layout =
      layout_diagram(net_of("abcdefgh", {"ab", "ac", "ad", "be", "cf", "dg", "eh", "fh", "gh"}));
  expect_apart(layout);
  const auto left_of = [&](size_t a, size_t b) { return layout.boxes[a].x < layout.boxes[b].x; };
  EXPECT_EQ(left_of(1, 2), left_of(4, 5));
  EXPECT_EQ(left_of(2, 3), left_of(5, 6));
}

TEST(DiagramLayout, RejectsACycleAnUnknownNodeAndATwin) {
  const auto error_of = [](const Diagram& net) -> std::string {
    try {
      layout_diagram(net);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of(net_of("abc", {"ab", "bc", "cb"})), HasSubstr("form a cycle"));
  EXPECT_THAT(error_of(net_of("ab", {"az"})), HasSubstr("names 'z'"));
  EXPECT_THAT(error_of(net_of("aa", {})), HasSubstr("two nodes of the net have the id 'a'"));
}

TEST(NetDrawing, WritesASharedShapeOnce) {
  const std::string svg = draw_diagram(net_of("abc", {"ab", "ac"}));
  EXPECT_NE(svg.find(">64</text>"), svg.npos);
  EXPECT_EQ(svg.find(">64</text>"), svg.rfind(">64</text>"));
}

TEST(NetDrawing, ShortensOnlyWhatDoesNotFit) {
  const auto svg_of = [](const std::string& label, const std::string& detail) {
    return draw_diagram({{{"a", label, "dense", detail}}, {}});
  };
  EXPECT_THAT(svg_of("Add", "a detail of forty letters, more than half"),
              HasSubstr(">a detail of forty letters, more than half</text>"));
  EXPECT_THAT(svg_of(std::string(40, 'n'), ""), HasSubstr(">" + std::string(40, 'n') + "</text>"));
  const std::string both = svg_of(std::string(99, 'n'), std::string(99, 'd'));
  EXPECT_THAT(both, HasSubstr(">" + std::string(26, 'n') + "…</text>"));
  EXPECT_THAT(both, HasSubstr(">" + std::string(30, 'd') + "…</text>"));
}

TEST(NetDot, QuotesLabelsAndColoursByKind) {
  EXPECT_EQ(
      to_dot({{{"a", "say \"hi\"", "dense", ""}, {"b", "B", "pool", "1"}}, {{"a", "b", "2 x 3"}}}),
      "digraph net {\n"
      "  node [shape=box, style=filled, fontname=\"Helvetica\", fontsize=11];\n"
      "  edge [fontname=\"Helvetica\", fontsize=10, arrowhead=open];\n"
      "  \"a\" [label=\"say \\\"hi\\\"\", fillcolor=\"#fb8072\"];\n"
      "  \"b\" [label=\"B\\n1\", fillcolor=\"#80b1d3\"];\n"
      "  \"a\" -> \"b\" [label=\"2 x 3\"];\n}\n");
}

}  // namespace
}  // namespace thalweg
