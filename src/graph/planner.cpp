#include <algorithm>
#include <atomic>

#include <thalweg/base/log.h>
#include <thalweg/graph/plan.h>
#include <thalweg/ops/call.h>

#include "base/fail.h"
#include "base/log_format.h"
#include "graph/passes.h"
#include "graph/plan_diagram.h"
#include "graph/plan_text.h"
#include "graph/profiler.h"
#include "graph/program.h"
#include "graph/signature.h"
#include "graph/tape.h"
#include "graph/verifier.h"
#include "graph/verify_pace.h"

namespace thalweg {
namespace {
std::atomic<uint64_t> g_epoch{0};
}

void invalidate_plans() noexcept { g_epoch.fetch_add(1, std::memory_order_relaxed); }

}  // namespace thalweg

namespace thalweg::detail {
namespace {

// A trainer's first step makes its states and a net's first call its parameters, so that the first
// calls differ from the later ones.
constexpr int kMostTraces = 6;
// A plan that never lasts is not worth making.
constexpr int kMostPlans = 8;
constexpr int kWorthIt = 16;  // replays
// What could not be planned is looked at again after so many calls.
constexpr int kRetry = 4096;

// Runs the body; what it gives back loses the history that was recorded inside.
void run_body(FunctionRef<void(std::vector<Tensor>&)> body, std::vector<Tensor>& results) {
  const uint64_t first = Segment::next_serial();
  body(results);
  for (const Tensor& r : results) {
    if (!r.defined()) continue;
    TensorImpl& impl = *r.impl();
    if (impl.is_recorded() && segment_of(impl)->serial() >= first) impl.segment.reset();
    if (!impl.is_recorded()) impl.value = kPlanResult;
  }
}

}  // namespace

class Planner::State {
 public:
  explicit State(const PlanOptions& options) : options(options) {
    if (options.signatures < 1)
      fail_invalid("plan: signatures is {}; it must be at least 1", options.signatures);
    if (options.memory_budget < 0)
      fail_invalid("plan: memory_budget is {}; it must not be negative", options.memory_budget);
  }

  /// One signature and what is known of it.
  struct Entry {
    Signature signature;
    std::unique_ptr<Trace> last;  // what the program is of, where there is one
    std::unique_ptr<Program> program;
    std::unique_ptr<Verifier> verifier;  // of the program
    VerifyPace pace;
    std::string reason;  // why there is none, or why the last one went
    bool given_up = false;
    int traces = 0;  // in a row without a program
    int plans = 0;
    int64_t replays = 0;     // of the program
    int64_t unverified = 0;  // of those, in a row, up to now
    int64_t eager = 0;       // calls since it was given up
    uint64_t used = 0;
    uint64_t epoch = g_epoch.load(std::memory_order_relaxed);

    void give_up() {
      given_up = true;
      eager = 0;
    }
    void forget() {
      verifier.reset();
      program.reset();
      last.reset();
      traces = 0;
    }
    /// The plan is of no more use.
    void drop(std::string why) {
      reason = std::move(why);
      // What was planned and replayed a lot was worth it.
      if (plans >= kMostPlans && replays < kWorthIt) give_up();
      if (replays >= kWorthIt) plans = 0;
      forget();
    }
  };

  Entry& entry();
  bool can_replay(Entry& e);
  void trace(Entry& e, FunctionRef<void(std::vector<Tensor>&)> body);
  void learn(Entry& e, std::unique_ptr<Trace> trace);
  void verify(Entry& e, FunctionRef<void(std::vector<Tensor>&)> body);
  void check(Entry& e, FunctionRef<void(std::vector<Tensor>&)> body);

  const PlanOptions options;
  std::atomic<bool> busy{false};
  PlanArguments arguments;
  std::vector<Tensor> results;
  std::vector<std::unique_ptr<Entry>> entries;
  Entry* latest = nullptr;
  uint64_t clock = 0;
  PlanCounts counts;
  std::string eager_reason;
};

Planner::State::Entry& Planner::State::entry() {
  if (latest && latest->signature.matches(arguments)) return *latest;
  for (const auto& e : entries) {
    if (e->signature.matches(arguments)) return *(latest = e.get());
  }
  if (entries.size() == static_cast<size_t>(options.signatures)) {
    const auto oldest =
        std::ranges::min_element(entries, {}, [](const auto& e) { return e->used; });
    log_info("plan: {} is given up for a newer signature; {} are kept",
             (*oldest)->signature.describe(), options.signatures);
    entries.erase(oldest);
    ++counts.evicted;
  }
  entries.push_back(std::make_unique<Entry>());
  latest = entries.back().get();
  latest->signature = Signature(arguments);
  return *latest;
}

bool Planner::State::can_replay(Entry& e) {
  if (const uint64_t now = g_epoch.load(std::memory_order_relaxed); e.epoch != now) [[unlikely]] {
    e.forget();
    e.given_up = false;
    e.epoch = now;
  }
  if (e.given_up && ++e.eager > kRetry) {
    e.given_up = false;
    e.traces = 0;
    e.plans = 0;
  }
  if (!e.program) return false;
  const char* refusal = e.program->refusal(arguments.tensors);
  if (!refusal) return true;
  e.drop(refusal);
  return false;
}

void Planner::State::trace(Entry& e, FunctionRef<void(std::vector<Tensor>&)> body) {
  auto trace = std::make_unique<Trace>(arguments.tensors);
  run_body(body, results);
  trace->finish(results);
  learn(e, std::move(trace));
}

void Planner::State::learn(Entry& e, std::unique_ptr<Trace> trace) {
  ++e.traces;
  e.reason = trace->refusal();
  if (e.reason.empty() && e.last) {
    e.reason = difference(*e.last, *trace);
    if (e.reason.empty()) {
      PlanGraph graph = graph_of(*trace);
      run_passes(graph, static_cast<size_t>(options.memory_budget));
      e.last = std::move(trace);
      e.program = std::make_unique<Program>(std::move(graph));
      e.program->discount(*e.last);
      if (options.measure) e.program->measure();
      e.verifier = std::make_unique<Verifier>(*e.last, *e.program);
      e.pace = VerifyPace();
      e.replays = e.unverified = 0;
      ++e.plans;
      ++counts.plans;
      log_info("plan: {} has {} records and {} bytes of temporaries", e.signature.describe(),
               e.program->graph().records.size(), e.program->memory().bytes);
      return;
    }
  }
  e.last = trace->refusal().empty() ? std::move(trace) : nullptr;
  if (e.traces < kMostTraces) return;
  e.give_up();
  log_info("plan: {} runs eagerly; {}", e.signature.describe(), e.reason);
  e.last.reset();
}

// The function's code runs beside the plan; where it does something else, the plan goes.
void Planner::State::verify(Entry& e, FunctionRef<void(std::vector<Tensor>&)> body) {
  struct End {
    Verifier& verifier;
    ~End() { verifier.end(); }
  };
  Verifier& verifier = *e.verifier;
  const Stopwatch watch;
  {
    const End end{verifier};
    verifier.begin(arguments.tensors);
    try {
      run_body(body, results);
    } catch (...) {
      verifier.abandon();
      throw;
    }
    verifier.finish(results);
  }
  const double seconds = watch.seconds(), plan = verifier.plan_seconds();
  // The host does not wait for records that it launches as graphs.
  if (verifier.replayed()) e.pace.took(e.program->launches_graphs() ? 0 : plan, seconds - plan);
  const int64_t unverified = std::exchange(e.unverified, 0);
  if (verifier.difference().empty() || verifier.left_out()) {
    ++counts.verified;
    return;
  }
  if (unverified > 0) {
    log_warn(
        "plan: a planned function no longer does what was planned: {}; perhaps a variable that it "
        "captures has changed; the last {} calls may have replayed the old values; make it an "
        "argument, ask for PlanOptions::verify, or call invalidate_plans()",
        verifier.difference(), unverified);
  } else {
    log_info("plan: {} is planned anew; {}", e.signature.describe(), verifier.difference());
  }
  e.drop(verifier.difference());
}

void Planner::State::check(Entry& e, FunctionRef<void(std::vector<Tensor>&)> body) {
  const std::vector<Tensor> before = e.program->state(arguments.tensors);
  const RandomState random = default_random_state();
  Trace trace(arguments.tensors);
  trace.capture();
  run_body(body, results);
  trace.finish(results);
  if (trace.leaves_work_out()) return;
  std::string found = trace.refusal();
  if (found.empty()) found = difference(*e.last, trace);
  if (found.empty()) found = e.program->compare(trace, arguments.tensors, before, random);
  if (!found.empty())
    fail(ErrorKind::internal, "plan: a replay differs from the eager call; {}", found);
}

Planner::Planner(const PlanOptions& options) : state_(std::make_unique<State>(options)) {}
Planner::~Planner() = default;

bool Planner::enter() {
  const ThreadMode& mode = thread_mode();
  // Inside a trace the function's kernels are part of that trace.
  if (mode.tracer && !active_profiler()) return false;
  if (state_->busy.exchange(true, std::memory_order_acquire)) return false;
  state_->arguments.clear();
  if (!mode.recorder) return true;
  ++state_->counts.eager;
  state_->eager_reason = "it was called inside a Record scope";
  leave();
  return false;
}

void Planner::leave() noexcept {
  state_->results.clear();
  state_->busy.store(false, std::memory_order_release);
}

PlanArguments& Planner::arguments() { return state_->arguments; }

std::span<Tensor> Planner::call(FunctionRef<void(std::vector<Tensor>&)> body) {
  State& s = *state_;
  add_mode(s.arguments);
  for (const TensorImpl* t : s.arguments.tensors) {
    if (!t || !t->is_recorded()) continue;
    s.eager_reason = "an argument has a history; detach() it";
    ++s.counts.eager;
    body(s.results);
    return s.results;
  }
  State::Entry& e = s.entry();
  e.used = ++s.clock;
  if (s.can_replay(e)) {
    if (s.options.check) {
      s.check(e, body);
    } else if (s.options.verify || e.pace.due()) {
      s.verify(e, body);
    } else {
      ++e.unverified;
      s.results.resize(e.program->result_count());
      e.program->replay(s.arguments.tensors, s.results);
    }
    ++(e.program ? s.counts.replayed : s.counts.traced);
    ++e.replays;
  } else if (e.given_up) {
    ++s.counts.eager;
    run_body(body, s.results);
  } else {
    ++s.counts.traced;
    s.trace(e, body);
  }
  return s.results;
}

Diagram Planner::diagram() const {
  const State::Entry* latest = nullptr;
  std::string reason;
  for (const auto& e : state_->entries) {
    if (e->program && (!latest || e->used > latest->used)) latest = e.get();
    if (!e->program) reason = e->reason;
  }
  if (!latest) {
    fail_invalid("plan: there is no plan to draw{}; call the function a few times first",
                 reason.empty() ? "" : "; " + reason);
  }
  return diagram_of(latest->program->graph());
}

PlanCounts Planner::counts() const { return state_->counts; }

std::string Planner::explain() const {
  const State& s = *state_;
  std::string text = explain_counts(s.counts);
  if (!s.eager_reason.empty()) text += fmt::format("eager: {}\n", s.eager_reason);
  for (const auto& e : s.entries) {
    text += fmt::format("\nsignature {}\n", e->signature.describe());
    if (e->program) {
      text += explain_program(*e->program);
      text += s.options.verify || e->pace.interval() == 1
                  ? "  each call is verified\n"
                  : fmt::format("  one call in {} is verified\n", e->pace.interval());
    } else if (e->given_up) {
      text += fmt::format("  runs eagerly: {}\n", e->reason);
    } else {
      text += fmt::format("  not planned yet{}{}\n", e->reason.empty() ? "" : ": ", e->reason);
    }
  }
  return text;
}

}  // namespace thalweg::detail
