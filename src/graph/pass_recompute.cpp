#include "graph/pass_recompute.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include <thalweg/base/text.h>

#include "base/fail.h"
#include "graph/memory_plan.h"
#include "graph/record_cost.h"

namespace thalweg {
namespace {

constexpr int kLongestChain = 8;
// Values given up in a row without a lower peak, after which it is as low as it gets.
constexpr int kMostInVain = 64;

// Rates that say what is cheaper than what; fixed, so that a graph is always planned alike.
constexpr double kOperationsPerSecond = 5e10, kBytesPerSecond = 1e10;
// Operations for a byte, above which a record computes more than it waits.
constexpr int64_t kMostOperationsPerByte = 4;

/// What it takes not to hold a value over a record.
struct Choice {
  uint32_t buffer = kNoIndex;
  uint32_t place = 0;             // the record that is the next to use it
  std::vector<uint32_t> records;  // that are repeated there, in their order
  double saved = 0, seconds = 0;

  bool better_than(const Choice& other) const {
    return saved * other.seconds > other.saved * seconds;
  }
};

/// A graph, and who makes, uses and changes its buffers.
class Uses {
 public:
  explicit Uses(const PlanGraph& graph)
      : graph_(graph),
        lives_(lifetimes(graph)),
        writers_(graph.buffers.size()),
        readers_(graph.buffers.size()),
        region_(graph.records.size(), kNoIndex) {
    uint32_t region = kNoIndex;
    for (uint32_t i = 0; i < graph.records.size(); ++i) {
      const PlanRecord& r = graph.records[i];
      for (const TraceOperand& in : r.inputs) {
        if (in.buffer != kNoIndex) readers_[in.buffer].push_back(i);
      }
      for (const TraceOperand& out : r.outputs) writers_[out.buffer].push_back(i);
      if (r.kind == TraceStep::Kind::host) {
        hosts_.push_back(i);
        region = i;
      }
      region_[i] = region;
      if (r.kind == TraceStep::Kind::end_host) region = kNoIndex;
    }
    for (uint32_t i = 0; i < graph.records.size(); ++i) {
      const RecordCost cost = cost_of(graph.records[i]);
      seconds_.push_back(static_cast<double>(cost.operations) / kOperationsPerSecond +
                         static_cast<double>(cost.bytes) / kBytesPerSecond);
      may_be_repeated_.push_back(cost.operations <= kMostOperationsPerByte * cost.bytes &&
                                 may_be_repeated(i));
    }
  }

  const Lifetime& life(uint32_t buffer) const { return lives_[buffer]; }
  bool is_temporary(uint32_t buffer) const {
    return graph_.buffers[buffer].kind == PlanBuffer::Kind::temporary;
  }
  double bytes(uint32_t buffer) const { return static_cast<double>(graph_.buffers[buffer].bytes); }
  /// The one record that writes a temporary, if it may run again elsewhere.
  uint32_t maker(uint32_t buffer) const {
    if (!is_temporary(buffer) || writers_[buffer].size() != 1) return kNoIndex;
    const uint32_t record = writers_[buffer][0];
    return may_be_repeated_[record] ? record : kNoIndex;
  }
  double seconds(uint32_t record) const { return seconds_[record]; }
  /// The first record after `after` that reads the buffer.
  uint32_t next_reader(uint32_t buffer, uint32_t after) const {
    const auto& list = readers_[buffer];
    const auto next = std::ranges::upper_bound(list, after);
    return next == list.end() ? kNoIndex : *next;
  }
  bool touches(uint32_t record, uint32_t buffer) const {
    return std::ranges::binary_search(readers_[buffer], record) ||
           std::ranges::binary_search(writers_[buffer], record);
  }
  /// Where something new may run that is used at `record`: not where the host may leave it out.
  uint32_t place_before(uint32_t record) const {
    return region_[record] == kNoIndex ? record : region_[record];
  }
  /// True if the operand holds at `place` what it held at `record`.
  bool is_unchanged(uint32_t buffer, uint32_t record, uint32_t place) const {
    const auto within = [&](const std::vector<uint32_t>& list) {
      const auto first = std::ranges::lower_bound(list, record);
      return first != list.end() && *first < place;
    };
    if (within(writers_[buffer])) return false;
    const PlanBuffer::Kind kind = graph_.buffers[buffer].kind;
    return kind == PlanBuffer::Kind::temporary || kind == PlanBuffer::Kind::constant ||
           !within(hosts_);
  }

 private:
  bool may_be_repeated(uint32_t record) const {
    const PlanRecord& r = graph_.records[record];
    if (r.kind != TraceStep::Kind::kernel || r.body || region_[record] != kNoIndex) return false;
    for (const TraceOperand& out : r.outputs) {
      const size_t bytes = static_cast<size_t>(out.meta.size()) * item_size(out.meta.dtype);
      if (!is_temporary(out.buffer) || writers_[out.buffer].size() != 1 ||
          bytes != graph_.buffers[out.buffer].bytes || !out.meta.is_dense())
        return false;
      if (std::ranges::any_of(r.inputs,
                              [&](const TraceOperand& in) { return in.buffer == out.buffer; }))
        return false;
    }
    return true;
  }

  const PlanGraph& graph_;
  std::vector<Lifetime> lives_;
  std::vector<std::vector<uint32_t>> writers_, readers_;
  std::vector<uint32_t> region_;  // the host record that may leave it out, or kNoIndex
  std::vector<uint32_t> hosts_;
  std::vector<double> seconds_;
  std::vector<bool> may_be_repeated_;
};

/// Finds what to give up over one record.
class Finder {
 public:
  Finder(const PlanGraph& graph, const Uses& uses, uint32_t over)
      : graph_(graph), uses_(uses), over_(over) {}

  std::optional<Choice> best() const {
    std::optional<Choice> best;
    for (uint32_t b = 0; b < graph_.buffers.size(); ++b) {
      const std::optional<Choice> choice = choice_of(b);
      if (choice && (!best || choice->better_than(*best))) best = choice;
    }
    return best;
  }

 private:
  std::optional<Choice> choice_of(uint32_t buffer) const {
    const uint32_t maker = uses_.maker(buffer);
    if (maker == kNoIndex || maker >= over_ || uses_.life(buffer).last <= over_) return {};
    if (uses_.touches(over_, buffer)) return {};
    Choice choice;
    choice.buffer = buffer;
    choice.place = uses_.place_before(uses_.next_reader(buffer, over_));
    if (choice.place <= over_) return {};
    choice.saved = uses_.bytes(buffer);
    if (!repeat(maker, choice, 0) || choice.saved <= 0) return {};
    std::ranges::sort(choice.records);
    for (const uint32_t r : choice.records) choice.seconds += uses_.seconds(r);
    return choice;
  }

  // Adds the record and what must be repeated for it. Operands that would have to live longer for
  // it count against what is saved.
  bool repeat(uint32_t record, Choice& choice, int depth) const {
    if (std::ranges::find(choice.records, record) != choice.records.end()) return true;
    for (const TraceOperand& in : graph_.records[record].inputs) {
      if (in.buffer == kNoIndex) continue;
      if (!uses_.is_unchanged(in.buffer, record, choice.place)) return false;
      if (!uses_.is_temporary(in.buffer) || uses_.life(in.buffer).last >= over_) continue;
      const uint32_t maker = uses_.maker(in.buffer);
      if (maker == kNoIndex || depth == kLongestChain || !repeat(maker, choice, depth + 1))
        choice.saved -= uses_.bytes(in.buffer);
    }
    choice.records.push_back(record);
    return true;
  }

  const PlanGraph& graph_;
  const Uses& uses_;
  const uint32_t over_;
};

// Repeats the records; what comes after reads what they make.
void apply(PlanGraph& graph, const Choice& choice) {
  std::unordered_map<uint32_t, uint32_t> anew;
  const auto rename = [&](std::vector<TraceOperand>& operands) {
    for (TraceOperand& o : operands) {
      if (const auto found = anew.find(o.buffer); found != anew.end()) o.buffer = found->second;
    }
  };
  std::vector<PlanRecord> again;
  for (const uint32_t i : choice.records) {
    PlanRecord r = graph.records[i];
    r.is_again = true;
    r.stands_for = 0;
    rename(r.inputs);
    for (const TraceOperand& out : r.outputs) {
      anew[out.buffer] = static_cast<uint32_t>(graph.buffers.size());
      graph.buffers.push_back(PlanBuffer(graph.buffers[out.buffer]));
    }
    rename(r.outputs);
    again.push_back(std::move(r));
  }
  for (size_t i = choice.place; i < graph.records.size(); ++i) rename(graph.records[i].inputs);
  graph.records.insert(graph.records.begin() + choice.place, std::move_iterator(again.begin()),
                       std::move_iterator(again.end()));
}

/// One way down: gives up one value after the other.
class Descent {
 public:
  Descent(const PlanGraph& graph, FunctionRef<void(PlanGraph&)> finish)
      : graph_(graph), finish_(finish), plan_(plan_memory(graph_)), lowest_peak_(plan_.peak) {
    note_arena();
  }

  /// True if the arena came down to so many bytes.
  bool reach(size_t bytes) {
    size_t target = bytes;
    while (least_ > bytes) {
      if (step(target)) {
        if (plan_.peak <= target) note_arena();
      } else if (target > seven_eighths(plan_.peak)) {
        // What runs together, and gaps between blocks, take more than what lives at once.
        target -= target / 16 + 1;
      } else {
        return false;
      }
    }
    return true;
  }
  /// As far as it goes.
  void reach_least() {
    while (step(0)) {
      if (in_vain_ == 0) note_arena();
    }
  }

  size_t least() const { return least_; }
  const PlanGraph& best() const { return best_; }

 private:
  static size_t seven_eighths(size_t peak) { return peak - peak / 8; }

  // Gives up one value that lives where there is most, or nearly so.
  bool step(size_t target) {
    if (in_vain_ == kMostInVain) return false;
    const std::vector<size_t>& live = plan_.live;
    std::vector<uint32_t> over;
    for (uint32_t i = 0; i < live.size(); ++i) {
      if (live[i] > std::max(target, seven_eighths(plan_.peak))) over.push_back(i);
    }
    std::ranges::stable_sort(over, std::greater(), [&](uint32_t i) { return live[i]; });
    const Uses uses(graph_);
    for (const uint32_t record : over) {
      const std::optional<Choice> choice = Finder(graph_, uses, record).best();
      if (!choice) continue;
      apply(graph_, *choice);
      plan_ = plan_memory(graph_);
      in_vain_ = plan_.peak < lowest_peak_ ? 0 : in_vain_ + 1;
      lowest_peak_ = std::min(lowest_peak_, plan_.peak);
      return true;
    }
    return false;
  }

  void note_arena() {
    PlanGraph finished = graph_;
    finish_(finished);
    const size_t bytes = plan_memory(finished).bytes;
    if (bytes >= least_) return;
    least_ = bytes;
    best_ = graph_;
  }

  PlanGraph graph_, best_;
  FunctionRef<void(PlanGraph&)> finish_;
  MemoryPlan plan_;  // of graph_
  size_t lowest_peak_;
  int in_vain_ = 0;
  size_t least_ = ~size_t{0};
};

std::string note_of(const PlanGraph& graph, size_t budget, size_t before, size_t after) {
  size_t records = 0;
  RecordCost all;
  for (const PlanRecord& r : graph.records) {
    if (!r.is_again) continue;
    const RecordCost cost = cost_of(r);
    ++records;
    all.operations += cost.operations;
    all.bytes += cost.bytes;
  }
  return fmt::format(
      "for a memory budget of {}: {} records run again before what they make is used, which takes "
      "{} operations and {} of reading and writing more; temporaries in {} bytes instead of {}",
      format_bytes(budget), records, format_count(static_cast<uint64_t>(all.operations)),
      format_bytes(static_cast<uint64_t>(all.bytes)), after, before);
}

}  // namespace

void fit_into(PlanGraph& graph, size_t bytes, FunctionRef<void(PlanGraph&)> finish) {
  Descent first(graph, finish);
  const size_t before = first.least();
  if (before <= bytes) return;
  // Where giving up what is worth most is not enough, everything goes that can: that way does not
  // depend on the budget, so that what is said to be possible is.
  const Descent* found = &first;
  std::optional<Descent> second;
  if (!first.reach(bytes)) {
    found = &second.emplace(graph, finish);
    second->reach_least();
  }
  if (found->least() > bytes) {
    fail_invalid(
        "plan: a memory budget of {} bytes is too small; temporaries take {} bytes where nothing "
        "is "
        "computed again, and {} at the least",
        bytes, before, found->least());
  }
  const size_t after = found->least();
  graph = found->best();
  graph.notes.push_back(note_of(graph, bytes, before, after));
}

}  // namespace thalweg
