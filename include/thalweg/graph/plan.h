#pragma once

// Plans: a function's calls, traced and then replayed.
//
//   auto step = tw::plan([&](const tw::Tensor& x, const tw::Tensor& y) {
//     tw::Tensor loss;
//     {
//       tw::Record record;
//       loss = tw::softmax_cross_entropy(net(x), y);
//     }
//     loss.backward();
//     trainer.step(x.size(0));
//     return loss;
//   });
//   for (...) tw::Tensor loss = step(batch.data, batch.label);
//
// The first calls run the function as it is and note which kernels run on which memory. As soon as
// two calls in a row did the same, later ones replay that, without the function's own code: the
// same kernels in the same order, temporary tensors in one block by their lifetimes, no memory from
// the heap. The bits are those of the eager call.
//
// A plan holds for one signature: structure, shapes, dtypes, strides and devices of the arguments,
// values of arguments that are no tensors, and the mode of layers. Another signature is planned
// anew; the latest are kept. Parameters and other tensors that the function uses besides its
// arguments are the same ones at each call: their elements may change, and a plan notes when one
// was replaced, frozen or freed. Learning rates, schedules and the counts of a Trainer go on as
// ever, and random ops draw new numbers.
//
// What a plan cannot do again - the function looks at elements on the host, other records from call
// to call, a module with hooks, tensors kept outside - runs eagerly, and explain() says why. What
// the function does besides with captured variables, such as counting its calls or printing, is
// left out in a replay that is not verified: give it in and out as arguments and results.
//
// A call is verified by running the function's own code without its kernels, each of which is held
// against the plan. Where all is as planned, the plan does the work; at the first difference, such
// as a captured number with another value, what the code did so far happens eagerly, and so does
// the rest: a verified call has the results of the eager one, always. Verified are
//   - the first 16 replays of a plan, and then
//   - each call, where the code takes no more than 2 % of the plan's time (commonly steps of a
//   third
//     of a millisecond and longer),
//   - else as many as cost 2 % of the plan's time, and one in 1024 at least. In between, a change
//   of
//     what the function captures - numbers, branches on captured flags, captured handles set to
//     other tensors - is not seen, and the old values are replayed, up to 1023 times in a row. With
//     PlanOptions::verify, or with such things given as arguments, there is no such gap.
// explain() says how many calls are verified.
//
// Results have no history: call backward() inside. While an outer Record scope records, the
// function runs as it is.

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <thalweg/base/function_ref.h>
#include <thalweg/graph/diagram.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {

struct PlanOptions {
  int64_t signatures = 8;  ///< so many are kept; the one longest unused goes
  bool measure = false;    ///< time each record of replays, for explain()
  bool verify = false;     ///< each call, whatever it costs; see above
  /// Look for faults: run each call both eagerly and as the plan, and compare what each record
  /// computed, bit by bit. Throws Error{internal}, naming the first record that differs, also where
  /// the function itself did something else than it did when it was planned. Slow.
  bool check = false;
  /// Bytes for the temporary tensors of a plan; 0: as many as it takes. Cheap records whose outputs
  /// wait long for their use are computed again then, with the same bits, until the rest fits.
  /// Planning throws Error{invalid} where that is not enough, with the least that is. Arguments,
  /// results, parameters and gradients do not count, nor does what runs eagerly.
  int64_t memory_budget = 0;
};

/// Makes all functions plan anew: something changed that plans cannot see, such as a variable that
/// a function captured.
THALWEG_API void invalidate_plans() noexcept;

/// Counts of a planned function's calls.
struct PlanCounts {
  int64_t replayed = 0;
  int64_t verified = 0;  ///< of those: the function's code ran beside
  int64_t traced = 0;    ///< ran eagerly, and were looked at
  int64_t eager = 0;     ///< ran as they are: recording, or nothing to plan
  int64_t plans = 0;     ///< made, of all signatures
  int64_t evicted = 0;   ///< signatures given up for newer ones
};

namespace detail {

/// What a call was given: tensors, and everything else as numbers.
struct PlanArguments {
  std::vector<const TensorImpl*> tensors;
  std::vector<uint64_t> values;

  void clear() {
    tensors.clear();
    values.clear();
  }
};

/// The plans of one function.
class THALWEG_API Planner {
 public:
  explicit Planner(const PlanOptions& options);
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// False if the call is to run as it is, without the planner.
  bool enter();
  void leave() noexcept;
  /// Of the call between enter() and leave(); empty at first.
  PlanArguments& arguments();
  /// Replays, or has `body` put the results into the list.
  std::span<Tensor> call(FunctionRef<void(std::vector<Tensor>&)> body);

  std::string explain() const;
  Diagram diagram() const;
  PlanCounts counts() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

inline void add_argument(PlanArguments& to, const Tensor& tensor) {
  to.tensors.push_back(tensor.impl());
}
template <typename T>
requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void add_argument(PlanArguments& to,
                                                                         const T& value) {
  uint64_t bits = 0;
  static_assert(sizeof(T) <= sizeof bits);
  std::memcpy(&bits, &value, sizeof value);
  to.values.push_back(bits);
}
template <typename T>
void add_argument(PlanArguments& to, const std::vector<T>& list) {
  to.values.push_back(list.size());
  for (const T& item : list) add_argument(to, item);
}
template <typename T, size_t N>
void add_argument(PlanArguments& to, const std::array<T, N>& list) {
  for (const T& item : list) add_argument(to, item);
}
template <typename... T>
void add_argument(PlanArguments& to, const std::tuple<T...>& list) {
  std::apply([&](const T&... item) { (add_argument(to, item), ...); }, list);
}
template <typename A, typename B>
void add_argument(PlanArguments& to, const std::pair<A, B>& two) {
  add_argument(to, two.first);
  add_argument(to, two.second);
}

/// How a function's result becomes a list of tensors and back.
template <typename R>
struct PlanResult;
template <>
struct PlanResult<Tensor> {
  static void put(Tensor&& r, std::vector<Tensor>& to) { to.push_back(std::move(r)); }
  static Tensor take(std::span<Tensor> from) { return std::move(from[0]); }
};
template <>
struct PlanResult<std::vector<Tensor>> {
  static void put(std::vector<Tensor>&& r, std::vector<Tensor>& to) { to = std::move(r); }
  static std::vector<Tensor> take(std::span<Tensor> from) {
    return {std::move_iterator(from.begin()), std::move_iterator(from.end())};
  }
};
template <size_t N>
struct PlanResult<std::array<Tensor, N>> {
  static void put(std::array<Tensor, N>&& r, std::vector<Tensor>& to) {
    for (Tensor& t : r) to.push_back(std::move(t));
  }
  static std::array<Tensor, N> take(std::span<Tensor> from) {
    std::array<Tensor, N> r;
    for (size_t i = 0; i < N; ++i) r[i] = std::move(from[i]);
    return r;
  }
};
template <>
struct PlanResult<std::pair<Tensor, Tensor>> {
  static void put(std::pair<Tensor, Tensor>&& r, std::vector<Tensor>& to) {
    to.push_back(std::move(r.first));
    to.push_back(std::move(r.second));
  }
  static std::pair<Tensor, Tensor> take(std::span<Tensor> from) {
    return {std::move(from[0]), std::move(from[1])};
  }
};

}  // namespace detail

/// A function and its plans; made by plan(). A handle: copies share both. Calls from two threads at
/// once are right; the second runs eagerly.
template <typename Function>
class Planned {
 public:
  explicit Planned(Function function, const PlanOptions& options = {})
      : function_(std::make_shared<Function>(std::move(function))),
        planner_(std::make_shared<detail::Planner>(options)) {}

  /// Arguments are tensors, numbers, and vectors, arrays, pairs and tuples of such; the result is
  /// nothing, a Tensor, or a vector, array or pair of them.
  template <typename... Args>
  auto operator()(const Args&... args) {
    using Result = std::decay_t<std::invoke_result_t<Function&, const Args&...>>;
    if (!planner_->enter()) return Result((*function_)(args...));
    const Leave leave{*planner_};
    (detail::add_argument(planner_->arguments(), args), ...);
    if constexpr (std::is_void_v<Result>) {
      planner_->call([&](std::vector<Tensor>&) { (*function_)(args...); });
    } else {
      using Form = detail::PlanResult<Result>;
      return Form::take(planner_->call([&](std::vector<Tensor>& results) {
        Form::put(Result((*function_)(args...)), results);
      }));
    }
  }

  /// What was planned for each signature, kernel by kernel, and what runs eagerly and why.
  std::string explain() const { return planner_->explain(); }
  /// The records of the plan that was used last; see to_dot() and to_svg(). Throws Error{invalid}
  /// if nothing is planned yet, with the reason.
  Diagram diagram() const { return planner_->diagram(); }
  PlanCounts counts() const { return planner_->counts(); }

 private:
  struct Leave {
    detail::Planner& planner;
    ~Leave() { planner.leave(); }
  };

  std::shared_ptr<Function> function_;
  std::shared_ptr<detail::Planner> planner_;
};

/// The function, planned: `auto step = plan([&](const Tensor& x) { ... });`
template <typename Function>
Planned<std::decay_t<Function>> plan(Function&& function, const PlanOptions& options = {}) {
  return Planned<std::decay_t<Function>>(std::forward<Function>(function), options);
}

}  // namespace thalweg
