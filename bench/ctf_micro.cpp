// The parser of CTF in MB/s of text on one thread, against a loop over the bytes that checks
// nothing and against fast_float called once a number. Ratios of one run count.

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <thalweg/base/philox.h>

#include "data/formats/ctf_parser.h"
#include "data/formats/decimal.h"
#include "stopwatch.h"

namespace {

using thalweg::Philox;
using namespace thalweg::data;

constexpr int kDim = 784;
constexpr int kRows = 1000;

struct Input {
  std::string name;
  std::string text;  // padded
  size_t size = 0;   // without the padding
  std::vector<CtfStream> streams;
};

template <typename Add>
Input make(const char* name, int rows, std::vector<CtfStream> streams, Add add_row) {
  Input input{name, "", 0, std::move(streams)};
  Philox random(1);
  for (int i = 0; i < rows; ++i) {
    add_row(random, input.text);
    input.text += '\n';
  }
  input.size = input.text.size();
  input.text.append(kDecimalPadding, '\n');
  return input;
}

std::vector<Input> inputs() {
  const std::vector<CtfStream> dense = {{.field = "F", .dim = kDim}};
  const auto row = [](auto value) {
    return [value](Philox& random, std::string& text) {
      text += "|F";
      for (int i = 0; i < kDim; ++i) value(random, text);
    };
  };
  const auto words = [](Philox& random, std::string& text) {
    text += "|W";
    uint32_t index = 0;
    for (int i = 0; i < 30; ++i)
      text += fmt::format(" {}:{}", index += 1 + random.bounded(900), 1 + random.bounded(9));
  };
  return {
      make("pixels", kRows, dense, row([](Philox& random, std::string& text) {
             text += fmt::format(" {}", random.bounded(256));
           })),
      make("drawn pixels", kRows, dense, row([](Philox& random, std::string& text) {
             text += random.bounded(5) > 0 ? " 0" : fmt::format(" {}", random.bounded(256));
           })),
      make("decimals", kRows, dense, row([](Philox& random, std::string& text) {
             text += fmt::format(" 0.{:06}", random.bounded(1000000));
           })),
      make("signed decimals", kRows, dense, row([](Philox& random, std::string& text) {
             text += fmt::format(" {:.6g}", random.bounded(1 << 24) / 4e6 - 2);
           })),
      make("words", kRows * 10, {{.field = "W", .dim = 30000, .sparse = true}}, words),
  };
}

// Every byte once: digits into a number, the point remembered, the number kept at a blank.
size_t bare_loop(const Input& input, std::vector<float>& out) {
  static constexpr float kScale[] = {1,     1e-1f, 1e-2f, 1e-3f, 1e-4f, 1e-5f,
                                     1e-6f, 1e-7f, 1e-8f, 1e-9f, 1e-10f};
  size_t n = 0;
  int64_t value = 0;
  int places = 0;
  bool fraction = false;
  bool negative = false;
  for (const char *at = input.text.data(), *end = at + input.size; at < end; ++at) {
    const char c = *at;
    if (c >= '0') {
      value = value * 10 + (c - '0');
      places += fraction;
    } else if (c == '.') {
      fraction = true;
    } else if (c == '-') {
      negative = true;
    } else {
      out[n++] = static_cast<float>(negative ? -value : value) * kScale[places];
      value = places = 0;
      fraction = negative = false;
    }
  }
  return n;
}

size_t library(const Input& input, std::vector<float>& out) {
  size_t n = 0;
  const char* const end = input.text.data() + input.size;
  for (const char* at = input.text.data(); at < end;) {
    const auto [next, error] = fast_float::from_chars(at, end, out[n]);
    n += error == std::errc();
    at = next + 1;
  }
  return n;
}

// Into memory of its own, as a chunk's, which is given back in the end.
int64_t ours(const Input& input, const CtfRules& rules) {
  SampleTable table;
  for (const CtfStream& stream : rules.streams) {
    StreamColumns& columns = table.streams().emplace_back(stream.dim, stream.sparse, stream.dtype);
    columns.values<float>().room(stream.sparse ? input.size / 4 : size_t{kRows} * kDim);
    if (stream.sparse) columns.columns().room(input.size / 4);
  }
  CtfReport report;
  Column<uint32_t> lines;
  parse_ctf(rules, CtfMode::lines, {input.text.data(), input.size}, {{}}, table, report, lines);
  if (report.errors > 0) fmt::print(stderr, "{}\n", report.problems[0].text);
  return table.sequences();
}

}  // namespace

int main() {
  fmt::print("{:<16} {:>8} {:>10} {:>11}  ratio to loop, fast_float\n", "MB/s", "ctf", "bare loop",
             "fast_float");
  for (const Input& input : inputs()) {
    const CtfRules rules{.streams = input.streams};
    std::vector<float> out(input.size);
    const auto times = bench::race(
        {[&] { ours(input, rules); }, [&] { bare_loop(input, out); }, [&] { library(input, out); }},
        1.5);
    const auto rate = [&](size_t i) { return static_cast<double>(input.size) / times[i] * 1e3; };
    fmt::print("{:<16} {:>8.0f} {:>10.0f} {:>11.0f}  {:.2f} {:.2f}\n", input.name, rate(0), rate(1),
               rate(2), rate(0) / rate(1), rate(0) / rate(2));
  }
}
