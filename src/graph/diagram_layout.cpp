#include "graph/diagram_layout.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/fail.h"

namespace thalweg {
namespace {

constexpr double kRowGap = 36;
constexpr double kBoxHeight = 34;
constexpr double kColumnGap = 28;
constexpr double kLaneWidth = 20;
constexpr double kMargin = 4;
constexpr int kSweeps = 8;

struct Link {
  size_t from, to;
};

// A place in the diagram: a node, or a point where a long edge crosses a row.
struct Slot {
  size_t row = 0;
  bool lane = false;
  double x = 0;  // centre
  std::vector<size_t> above, below;
};

std::vector<Link> resolve_edges(const Diagram& net) {
  std::unordered_map<std::string_view, size_t> ids;
  for (size_t i = 0; i < net.nodes.size(); ++i)
    if (!ids.emplace(net.nodes[i].id, i).second)
      fail_invalid("diagram: two nodes of the net have the id '{}'", net.nodes[i].id);
  const auto find = [&](const std::string& id) {
    const auto found = ids.find(id);
    if (found == ids.end())
      fail_invalid("diagram: an edge of the net names '{}'; it has no node of that id", id);
    return found->second;
  };
  std::vector<Link> links;
  for (const DiagramEdge& edge : net.edges) links.push_back({find(edge.from), find(edge.to)});
  return links;
}

// The length of the longest path to each node (Kahn's algorithm).
std::vector<size_t> longest_paths(const Diagram& net, const std::vector<Link>& links) {
  const size_t count = net.nodes.size();
  std::vector<size_t> depth(count, 0), waiting(count, 0), ready;
  std::vector<std::vector<size_t>> next(count);
  for (const Link& link : links) {
    next[link.from].push_back(link.to);
    ++waiting[link.to];
  }
  for (size_t i = 0; i < count; ++i)
    if (waiting[i] == 0) ready.push_back(i);
  for (size_t done = 0; done < ready.size(); ++done) {
    const size_t node = ready[done];
    for (size_t to : next[node]) {
      depth[to] = std::max(depth[to], depth[node] + 1);
      if (--waiting[to] == 0) ready.push_back(to);
    }
  }
  if (ready.size() < count) {
    const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](size_t n) { return n > 0; });
    fail_invalid("diagram: the edges of the net form a cycle; through or before '{}'",
                 net.nodes[static_cast<size_t>(stuck - waiting.begin())].id);
  }
  return depth;
}

// A node without inputs, such as the labels of a loss, belongs just above its first use.
void lower_sources(std::vector<size_t>& depth, const std::vector<Link>& links) {
  const size_t count = depth.size();
  std::vector<bool> source(count, true);
  std::vector<size_t> first_use(count, count);
  for (const Link& link : links) {
    source[link.to] = false;
    first_use[link.from] = std::min(first_use[link.from], depth[link.to]);
  }
  for (size_t i = 0; i < count; ++i)
    if (source[i] && first_use[i] < count) depth[i] = first_use[i] - 1;
}

class Layout {
 public:
  explicit Layout(const Diagram& net) : links_(resolve_edges(net)) {
    std::vector<size_t> depth = longest_paths(net, links_);
    lower_sources(depth, links_);
    for (size_t row : depth) add_slot(row, false);
    for (const Link& link : links_) add_chain(link);
    box_width_ = widest_box(net);
    sort_rows();
    place();
  }

  DiagramLayout result(size_t nodes) const {
    DiagramLayout layout{
        .box_width = box_width_, .box_height = kBoxHeight, .boxes = {}, .routes = {}};
    double left = 0, right = 0;
    for (const Slot& slot : slots_) {
      left = std::min(left, slot.x - width(slot) / 2);
      right = std::max(right, slot.x + width(slot) / 2);
    }
    const double shift = kMargin - left;
    layout.width = right - left + 2 * kMargin;
    layout.height = row_top(rows_.size()) - kRowGap + kMargin;
    for (size_t i = 0; i < nodes; ++i)
      layout.boxes.push_back({slots_[i].x + shift - box_width_ / 2, row_top(slots_[i].row)});
    for (const std::vector<size_t>& chain : chains_) layout.routes.push_back(route(chain, shift));
    return layout;
  }

 private:
  static double row_top(size_t row) {
    return kMargin + static_cast<double>(row) * (kBoxHeight + kRowGap);
  }

  static double widest_box(const Diagram& net) {
    double widest = 160;
    for (const DiagramNode& node : net.nodes) {
      widest = std::max(widest, label_width(node.label.size()) + detail_width(node.detail.size()) +
                                    box_padding(node));
    }
    return std::min(widest, 460.0);
  }

  double width(const Slot& slot) const { return slot.lane ? kLaneWidth : box_width_; }

  size_t add_slot(size_t row, bool lane) {
    if (rows_.size() <= row) rows_.resize(row + 1);
    rows_[row].push_back(slots_.size());
    slots_.push_back({.row = row, .lane = lane, .above = {}, .below = {}});
    return slots_.size() - 1;
  }

  void add_chain(const Link& link) {
    std::vector<size_t> chain{link.from};
    for (size_t row = slots_[link.from].row + 1; row < slots_[link.to].row; ++row)
      chain.push_back(add_slot(row, true));
    chain.push_back(link.to);
    for (size_t i = 0; i + 1 < chain.size(); ++i) {
      slots_[chain[i]].below.push_back(chain[i + 1]);
      slots_[chain[i + 1]].above.push_back(chain[i]);
    }
    chains_.push_back(std::move(chain));
  }

  // Each row is sorted by the mean position of its neighbours above, then below, and so on.
  void sort_rows() {
    for (const auto& row : rows_)
      for (size_t i = 0; i < row.size(); ++i) slots_[row[i]].x = static_cast<double>(i);
    for (int sweep = 0; sweep < kSweeps; ++sweep)
      for (size_t i = 0; i < rows_.size(); ++i) {
        const bool down = sweep % 2 == 0;
        sort_row(rows_[down ? i : rows_.size() - 1 - i], down);
      }
  }

  void sort_row(std::vector<size_t>& row, bool down) {
    std::vector<double> wish(slots_.size());
    for (size_t slot : row) wish[slot] = mean_of_neighbours(slots_[slot], down);
    std::stable_sort(row.begin(), row.end(), [&](size_t a, size_t b) { return wish[a] < wish[b]; });
    for (size_t i = 0; i < row.size(); ++i) slots_[row[i]].x = static_cast<double>(i);
  }

  double mean_of_neighbours(const Slot& slot, bool down) const {
    const std::vector<size_t>& from = down ? slot.above : slot.below;
    if (from.empty()) return slot.x;
    double sum = 0;
    for (size_t other : from) sum += slots_[other].x;
    return sum / static_cast<double>(from.size());
  }

  void place() {
    for (auto& row : rows_) place_row(row, std::vector<double>(row.size(), 0));
    for (int sweep = 0; sweep < kSweeps; ++sweep)
      for (size_t i = 0; i < rows_.size(); ++i) {
        const bool down = sweep % 2 == 0;
        const auto& row = rows_[down ? i : rows_.size() - 1 - i];
        std::vector<double> wish;
        for (size_t slot : row) wish.push_back(mean_of_neighbours(slots_[slot], down));
        place_row(row, wish);
      }
  }

  // The positions nearest to `wish` (least squares) that keep the order and the distances: with the
  // distances subtracted this is isotonic regression, solved by pooling adjacent violators.
  void place_row(const std::vector<size_t>& row, const std::vector<double>& wish) {
    struct Pool {
      double sum;
      size_t count;
      double mean() const { return sum / static_cast<double>(count); }
    };
    std::vector<double> offset(row.size(), 0);
    for (size_t i = 1; i < row.size(); ++i)
      offset[i] =
          offset[i - 1] + kColumnGap + (width(slots_[row[i - 1]]) + width(slots_[row[i]])) / 2;
    std::vector<Pool> pools;
    for (size_t i = 0; i < row.size(); ++i) {
      pools.push_back({wish[i] - offset[i], 1});
      while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
        const Pool last = pools.back();
        pools.pop_back();
        pools.back() = {pools.back().sum + last.sum, pools.back().count + last.count};
      }
    }
    size_t i = 0;
    for (const Pool& pool : pools)
      for (size_t k = 0; k < pool.count; ++k, ++i) slots_[row[i]].x = pool.mean() + offset[i];
  }

  DiagramRoute route(const std::vector<size_t>& chain, double shift) const {
    DiagramRoute route;
    for (size_t i = 0; i < chain.size(); ++i) {
      const Slot& slot = slots_[chain[i]];
      if (i > 0) route.points.push_back({slot.x + shift, row_top(slot.row)});
      if (i + 1 < chain.size())
        route.points.push_back({slot.x + shift, row_top(slot.row) + kBoxHeight});
    }
    return route;
  }

  std::vector<Link> links_;
  std::vector<Slot> slots_;                  // the nodes first
  std::vector<std::vector<size_t>> rows_;    // slots from left to right
  std::vector<std::vector<size_t>> chains_;  // by edge: its slots from top to bottom
  double box_width_ = 0;
};

}  // namespace

DiagramLayout layout_diagram(const Diagram& net) { return Layout(net).result(net.nodes.size()); }

}  // namespace thalweg
