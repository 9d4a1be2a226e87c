#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <thalweg/base/file.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/graph/profile.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"

namespace thalweg {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr MachinePeak kPeak{1e11, 3e10};

const ProfileEntry& entry_of(const std::vector<ProfileEntry>& entries, const std::string& op) {
  for (const ProfileEntry& entry : entries) {
    if (entry.op == op) return entry;
  }
  throw std::out_of_range(op);
}

Json trace_of(const Profile& profile) {
  const TempDir folder;
  profile.write_trace(folder / "profile.json");
  return Json::parse(read_file(folder / "profile.json"));
}

// Names of the complete events.
std::multiset<std::string> names_of(const Json& trace) {
  std::multiset<std::string> names;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") names.insert(event["name"].get<std::string>());
  }
  return names;
}

TEST(Profile, CountsCallsOperationsAndBytesOfOps) {
  const Tensor a = Tensor::ones({8, 16}), b = Tensor::ones({16, 4});
  Profile profile;
  for (int i = 0; i < 3; ++i) tanh(matmul(a, b));
  profile.stop();
  tanh(a);  // not seen any more
  const std::vector<ProfileEntry> entries = profile.entries();
  ASSERT_EQ(entries.size(), 2u);
  const ProfileEntry& product = entry_of(entries, "matmul");
  EXPECT_EQ(product.calls, 3);
  EXPECT_EQ(product.operations, 3 * 2 * 8 * 16 * 4);
  EXPECT_EQ(product.bytes, 3 * 4 * (8 * 16 + 16 * 4 + 8 * 4));
  EXPECT_FALSE(product.kernel.empty());
  EXPECT_GT(product.seconds, 0);
  EXPECT_EQ(entry_of(entries, "tanh").operations, 3 * 8 * 4);
  EXPECT_GE(profile.seconds(), product.seconds);
}

TEST(Profile, SeesTheBackwardPass) {
  const Tensor w = Tensor::ones({4});
  w.attach_grad();
  Profile profile;
  Tensor loss;
  {
    const Record record;
    loss = sum(square(w));
  }
  loss.backward();
  profile.stop();
  EXPECT_GE(profile.entries().size(), 3u);
  EXPECT_EQ(w.grad().to_vector<float>(), std::vector<float>(4, 2));
}

TEST(Profile, SeesTheSameOpsInEagerCallsTracesAndReplays) {
  auto f = plan([](const Tensor& x) { return sum(tanh(x), {0}); });
  const Tensor x = Tensor::ones({3, 2});
  Profile profile;
  for (int i = 0; i < 6; ++i) f(x);
  profile.stop();
  EXPECT_EQ(f.counts().replayed, 4);
  EXPECT_EQ(entry_of(profile.entries(), "tanh").calls, 6);
  EXPECT_EQ(entry_of(profile.entries(), "sum").calls, 6);
  int planned = 0;
  const Json trace = trace_of(profile);
  for (const Json& event : trace["traceEvents"])
    planned += event["ph"] == "X" && event["args"]["planned"].get<bool>();
  EXPECT_EQ(planned, 8);
  EXPECT_EQ(f(x).to_vector<float>(), sum(tanh(x), {0}).to_vector<float>());
}

TEST(Profile, NamesWhatAFusedRecordRuns) {
  auto f = plan([](const Tensor& x) { return tanh(x * x + x); });
  const Tensor x = Tensor::ones({200, 200});
  for (int i = 0; i < 3; ++i) f(x);
  Profile profile;
  f(x);
  profile.stop();
  ASSERT_EQ(profile.entries().size(), 1u);
  EXPECT_EQ(profile.entries()[0].op, "mul, add, tanh");
  EXPECT_EQ(profile.entries()[0].operations, 3 * 200 * 200);
  EXPECT_EQ(profile.entries()[0].bytes, 2 * 200 * 200 * 4);
}

TEST(Profile, WritesATraceInOrderWithScopesAndMemory) {
  Profile profile;
  {
    const ProfileScope scope("the \"work\"");
    const Tensor x = Tensor::ones({1000});
    tanh(x);
    exp(x);
  }
  note_stretch("waiting", 0);
  profile.stop();
  const Json trace = trace_of(profile);
  EXPECT_EQ(trace["displayTimeUnit"], "ms");
  EXPECT_EQ(names_of(trace),
            (std::multiset<std::string>{"exp", "tanh", "the \"work\"", "waiting"}));
  double first = -1, second = -1, begin = -1, end = -1;
  bool has_memory = false;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "C") {
      has_memory = true;
      EXPECT_EQ(event["name"], "live tensors");
      EXPECT_GE(event["args"]["bytes"].get<int64_t>(), 0);
    }
    if (event["ph"] != "X") continue;
    EXPECT_GE(event["dur"].get<double>(), 0);
    const double at = event["ts"].get<double>();
    if (event["name"] == "tanh") first = at;
    if (event["name"] == "exp") second = at;
    if (event["cat"] == "scope" && event["name"] != "waiting") {
      begin = at;
      end = at + event["dur"].get<double>();
    }
  }
  EXPECT_TRUE(has_memory);
  EXPECT_LE(begin, first);
  EXPECT_LE(first, second);
  EXPECT_LE(second, end);
}

TEST(Profile, KeepsNoMoreEventsThanAskedFor) {
  const Tensor x = Tensor::ones({4});
  Profile profile({.events = 2});
  for (int i = 0; i < 5; ++i) tanh(x);
  profile.stop();
  EXPECT_EQ(names_of(trace_of(profile)).size(), 2u);
  EXPECT_EQ(profile.entries()[0].calls, 5);
  EXPECT_THAT(profile.table(kPeak), HasSubstr("3 events are in the table alone"));
}

TEST(Profile, IsATable) {
  const Tensor a = Tensor::ones({64, 64});
  Profile profile;
  matmul(a, a);
  profile.stop();
  const std::string table = profile.table(kPeak);
  EXPECT_THAT(table, HasSubstr("GFLOP/s"));
  EXPECT_THAT(table, HasSubstr("100.0 %"));
  EXPECT_THAT(table, HasSubstr("100.0 GFLOP/s, 30.0 GB/s"));
  EXPECT_EQ(table.rfind("op  ", 0), 0u);
}

TEST(Profile, SeesItsOwnThreadAlone) {
  Profile profile;
  std::thread([] {
    const ProfileScope scope("elsewhere");
    tanh(Tensor::ones({2}));
  }).join();
  profile.stop();
  EXPECT_TRUE(profile.entries().empty());
  EXPECT_TRUE(names_of(trace_of(profile)).empty());
}

TEST(Profile, IsOneAtATime) {
  Profile profile;
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { Profile second; }),
              HasSubstr("being profiled already"));
  auto inside = plan([](const Tensor& x) {
    EXPECT_THAT(error_text(ErrorKind::invalid, [] { Profile second; }), HasSubstr("being traced"));
    return x;
  });
  profile.stop();
  inside(Tensor::ones({1}));
}

TEST(Profile, MeasuresThePeakWithoutBeingSeen) {
  Profile profile;
  const MachinePeak peak = measure_peak();
  profile.stop();
  EXPECT_GT(peak.flops, 1e8);
  EXPECT_GT(peak.bytes, 1e8);
  EXPECT_TRUE(profile.entries().empty());
}

}  // namespace
}  // namespace thalweg
