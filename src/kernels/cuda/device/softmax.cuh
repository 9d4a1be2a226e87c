#pragma once

// Softmax and its losses: a warp for each lane.

#include "kernels/cuda/device/elements.cuh"

namespace thalweg::cuda {

template <typename C>
constexpr C kInfinity = static_cast<C>(std::bit_cast<float>(0x7f800000u));

template <typename C>
C warp_sum(C value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

/// The largest of a warp; NaN wins.
template <typename C>
C warp_max(C value) {
  for (int distance = 16; distance > 0; distance /= 2) {
    const C other = __shfl_xor_sync(0xffffffffu, value, distance);
    value = other > value || other != other ? other : value;
  }
  return value;
}

/// Elements of one lane, of one operand.
template <typename T>
struct LaneOf {
  const char* first;
  int64_t step;
  ComputeType<T> operator[](int64_t i) const { return load<T>(first + i * step).v; }
};

/// Calls f(places of the operands, this thread's number in the warp) for each lane of this warp.
template <typename F>
void for_each_lane(const LaneArgs& args, F&& f) {
  constexpr int kWarps = 256 / 32;
  const int64_t warp = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  for (int64_t l = warp; l < args.lanes.count; l += static_cast<int64_t>(gridDim.x) * kWarps)
    f(Places<LaneArgs::kMostOperands>(args.lanes, l), static_cast<int>(threadIdx.x % 32));
}

/// The logits of one softmax. All logits -inf: every share is 0, every log_share -inf.
template <typename T>
struct SoftmaxLane {
  using C = ComputeType<T>;
  LaneOf<T> logits;
  C largest, total;

  SoftmaxLane(LaneOf<T> lane, int64_t n, int thread) : logits(lane) {
    C most = -kInfinity<C>;
    for (int64_t i = thread; i < n; i += 32) {
      const C x = lane[i];
      most = x > most || x != x ? x : most;
    }
    largest = warp_max(most);
    C sum = 0;
    for (int64_t i = thread; i < n && !is_masked(); i += 32) sum += std::exp(lane[i] - largest);
    total = warp_sum(sum);
  }
  bool is_masked() const { return largest == -kInfinity<C>; }
  C share(int64_t i) const { return is_masked() ? C(0) : std::exp(logits[i] - largest) / total; }
  C log_share(int64_t i) const {
    return is_masked() ? largest : logits[i] - largest - std::log(total);
  }
};

/// Operands: out, x.
template <typename T, bool kLog>
void softmax_lanes(const LaneArgs& args) {
  for_each_lane(args, [&](const auto& places, int thread) {
    const SoftmaxLane<T> lane({args.data[1] + places.at[1], args.steps[1]}, args.n, thread);
    char* out = args.data[0] + places.at[0];
    for (int64_t i = thread; i < args.n; i += 32)
      store<T>(out + i * args.steps[0], kLog ? lane.log_share(i) : lane.share(i));
  });
}

/// Operands: out, grad, y.
template <typename T, bool kLog>
void softmax_vjp_lanes(const LaneArgs& args) {
  using C = ComputeType<T>;
  for_each_lane(args, [&](const auto& places, int thread) {
    const LaneOf<T> g{args.data[1] + places.at[1], args.steps[1]};
    const LaneOf<T> y{args.data[2] + places.at[2], args.steps[2]};
    C sum = 0;
    for (int64_t i = thread; i < args.n; i += 32) sum += kLog ? g[i] : g[i] * y[i];
    sum = warp_sum(sum);
    char* out = args.data[0] + places.at[0];
    for (int64_t i = thread; i < args.n; i += 32) {
      const C d = kLog ? g[i] - std::exp(y[i]) * sum : y[i] * (g[i] - sum);
      store<T>(out + i * args.steps[0], d);
    }
  });
}

/// The label of one lane, as a distribution times the weights of the classes. Labels of type Label
/// are classes where that is an integer; one that is no class makes NaN.
template <typename T, typename Label>
struct TargetLane {
  using C = ComputeType<T>;
  static constexpr bool kSparse = std::is_integral_v<Label>;
  const LaneArgs& args;
  LaneOf<Label> label;
  LaneOf<T> weights;  // first is null: all are 1
  int64_t chosen = 0;
  C scale = 1;

  TargetLane(const LaneArgs& a, LaneOf<Label> l, LaneOf<T> w) : args(a), label(l), weights(w) {
    if constexpr (kSparse) {
      chosen = static_cast<int64_t>(label[0]);
      if (chosen == args.ignore_label)
        scale = 0;
      else if (chosen < 0 || chosen >= args.n)
        scale = kInfinity<C> - kInfinity<C>;
    }
  }
  C operator[](int64_t i) const {
    C q;
    if constexpr (kSparse)
      q = i == chosen ? C(1) : C(0);
    else
      q = label[i];
    const C smoothing = static_cast<C>(args.label_smoothing);
    const C smooth = q * (1 - smoothing) + smoothing / static_cast<C>(args.n);
    return scale * (weights.first ? weights[i] : C(1)) * smooth;
  }
};

/// Operands: out, pred, label, class weights or null.
template <typename T, typename Label>
void cross_entropy_lanes(const LaneArgs& args) {
  using C = ComputeType<T>;
  for_each_lane(args, [&](const auto& places, int thread) {
    const SoftmaxLane<T> lane({args.data[1] + places.at[1], args.steps[1]}, args.n, thread);
    const TargetLane<T, Label> target(args, {args.data[2] + places.at[2], args.steps[2]},
                                      {args.data[3], args.steps[3]});
    C loss = 0;
    for (int64_t i = thread; i < args.n; i += 32) {
      if (const C u = target[i]; u != 0) loss -= u * lane.log_share(i);
    }
    loss = warp_sum(loss);
    if (thread == 0) store<T>(args.data[0] + places.at[0], loss);
  });
}

/// Operands: out, pred, label, class weights or null, grad.
template <typename T, typename Label>
void cross_entropy_vjp_lanes(const LaneArgs& args) {
  using C = ComputeType<T>;
  for_each_lane(args, [&](const auto& places, int thread) {
    const SoftmaxLane<T> lane({args.data[1] + places.at[1], args.steps[1]}, args.n, thread);
    const TargetLane<T, Label> target(args, {args.data[2] + places.at[2], args.steps[2]},
                                      {args.data[3], args.steps[3]});
    C total = 0;
    for (int64_t i = thread; i < args.n; i += 32) total += target[i];
    total = warp_sum(total);
    const C g = load<T>(args.data[4] + places.at[4]).v;
    char* out = args.data[0] + places.at[0];
    for (int64_t i = thread; i < args.n; i += 32)
      store<T>(out + i * args.steps[0], g * (lane.share(i) * total - target[i]));
  });
}

}  // namespace thalweg::cuda
