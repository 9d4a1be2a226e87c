#include "data/formats/ctf_compat.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/fail.h"
#include "data/formats/ctf_scanner.h"

namespace thalweg::data {
namespace {

using ctf::is_blank;
using ctf::is_digit;

bool is_unprintable(char c) { return static_cast<signed char>(c) < 0x20; }
bool ends_values(char c) { return (is_unprintable(c) && c != '\t') || c == '|'; }

// One sequence's bytes, read one after another. Functions that read something tell whether they
// could; at_ is then at the first byte they did not take.
class Parser {
 public:
  Parser(const CtfRules& rules, std::string_view text, uint64_t offset, std::string_view name,
         SampleTable& table, CtfReport& report)
      : rules_(rules), text_(text), offset_(offset), name_(name), table_(table), report_(report) {
    for (const CtfStream& stream : rules.streams)
      longest_field_ = std::max(longest_field_, stream.field.size());
  }

  void add_sequence(const CtfSequence& sequence) {
    at_ = text_.data() + sequence.offset;
    end_ = at_ + sequence.size;
    id_ = sequence.key;
    size_t rows = 0;
    for (size_t number = 1; at_ < end_; ++number) {
      if (row()) {
        ++rows;
        continue;
      }
      ++report_.errors;
      warn("Could not read a row (# {}) while loading sequence (id = {}) {}.", number, id_,
           place());
    }
    if (rows < sequence.rows) {
      warn(
          "Exhausted all input expected for the current sequence (id = {}) {}, but only read {} "
          "out "
          "of {} expected rows.",
          id_, place(), rows, sequence.rows);
    }
    table_.end_sequence(check_length(sequence.rows));
  }

 private:
  int64_t check_length(uint32_t rows) {
    size_t longest = 0;
    bool has_more = false;
    for (size_t i = 0; i < rules_.streams.size(); ++i) {
      const size_t samples = table_.streams()[i].open_samples();
      if (samples == 0) {
        fail_io(
            "Input ('{}') is empty in sequence (id = {}) {}. Malformed input file. Bailing out.",
            rules_.streams[i].field, id_, place());
      }
      if (rules_.counting >= 0 && rules_.counting != static_cast<int>(i)) continue;
      longest = std::max(longest, samples);
      if (samples > rows) {
        has_more = true;
        warn(
            "Input ('{}') contains more samples than expected ({} vs. {}) for sequence (id = {}) "
            "{}.",
            rules_.streams[i].field, samples, rows, id_, place());
      }
    }
    if (!has_more && longest < rows) {
      warn("Number of samples for sequence (id = {}) {} is less than expected ({} vs. {}).", id_,
           place(), longest, rows);
    }
    report_.errors += has_more || longest < rows;
    return static_cast<int64_t>(longest);
  }

  bool row() {
    while (at_ < end_ && is_digit(*at_)) ++at_;
    size_t samples = 0;
    while (at_ < end_) {
      if (*at_ == '\n') {
        ++at_;
        if (samples == 0) {
          warn("Empty input row {}.", place());
        } else if (samples > rules_.streams.size()) {
          warn("Input row {} contains more samples than expected ({} vs. {}).", place(), samples,
               rules_.streams.size());
        }
        return samples > 0;
      }
      if (is_blank(*at_) || is_unprintable(*at_)) {
        ++at_;
      } else if (column()) {
        ++samples;
      } else {
        while (at_ < end_ && *at_ != '|' && *at_ != '\n') ++at_;
      }
    }
    warn_of_end("an input row", ". Possibly, a trailing newline is missing");
    return true;
  }

  bool column() {
    if (*at_ != '|') {
      warn("Unexpected character ('{}') in place of a name prefix ('|') in an input name {}.", *at_,
           place());
      ++report_.errors;
      return false;
    }
    ++at_;
    if (at_ < end_ && *at_ == '#') {
      ++at_;
      return false;
    }
    const int stream = field();
    if (stream < 0) return false;
    StreamColumns& columns = table_.streams()[static_cast<size_t>(stream)];
    const bool is_f32 = columns.dtype() == DType::f32;
    const bool is_good = columns.is_sparse()
                             ? (is_f32 ? sparse<float>(columns) : sparse<double>(columns))
                             : (is_f32 ? dense<float>(columns) : dense<double>(columns));
    if (is_good) {
      columns.end_sample();
    } else {
      columns.drop_sample();
      ++report_.errors;
    }
    return is_good;
  }

  // The stream that the name at at_ is of; -1 if it is to be skipped.
  int field() {
    const char* const name = at_;
    for (; at_ < end_; ++at_) {
      const auto size = static_cast<size_t>(at_ - name);
      if (is_blank(*at_) || ends_values(*at_)) {
        if (size > 0) return rules_.find({name, size});
        warn("Input name prefix ('|') is followed by an invalid character ('{}') {}.", *at_,
             place());
        ++report_.errors;
        return -1;
      }
      if (size == longest_field_) return -1;
    }
    warn_of_end("an input name");
    ++report_.errors;
    return -1;
  }

  template <typename T>
  bool dense(StreamColumns& columns) {
    const auto dim = static_cast<size_t>(columns.dim());
    Column<T>& values = columns.values<T>();
    size_t n = 0;
    for (; at_ < end_ && !ends_values(*at_);) {
      if (is_blank(*at_)) {
        ++at_;
        continue;
      }
      double value;
      if (!number(value)) return false;
      values.push_back(static_cast<T>(value));
      ++n;
    }
    if (at_ == end_) {
      warn_of_end("a dense sample");
      if (n == 0 || n > dim) return false;
    } else if (n > dim) {
      warn("Dense sample (size = {}) {} exceeds the expected size ({}).", n, place(), dim);
      return false;
    } else if (n < dim) {
      warn("A dense sample {} has a sparse suffix (expected size = {}, actual size = {}).", place(),
           dim, n);
    }
    std::fill_n(values.room(dim - n), dim - n, T{0});
    values.commit(dim - n);
    return true;
  }

  template <typename T>
  bool sparse(StreamColumns& columns) {
    for (; at_ < end_ && !ends_values(*at_);) {
      if (is_blank(*at_)) {
        ++at_;
        continue;
      }
      uint64_t index;
      double value;
      if (!whole_number(index)) return false;
      if (index >= static_cast<uint64_t>(columns.dim())) {
        warn("Sparse index value ({}) {} exceeds the maximum expected value ({}).", index, place(),
             columns.dim() - 1);
        return false;
      }
      if (*at_ != ':') {
        warn(
            "Unexpected character('{}') in place of the index delimiter (':') after a sparse value "
            "index ({}) {}.",
            *at_, index, place());
        return false;
      }
      ++at_;
      if (!number(value)) return false;
      columns.values<T>().push_back(static_cast<T>(value));
      columns.columns().push_back(static_cast<int32_t>(index));
    }
    if (at_ < end_) return true;
    warn_of_end("a sparse sample");
    return columns.open_stored() > 0;
  }

  bool whole_number(uint64_t& value) {
    value = 0;
    const char* const begin = at_;
    for (; at_ < end_; ++at_) {
      if (!is_digit(*at_)) {
        if (at_ == begin) warn("Expected a uint64 value, but none found {}.", place());
        return at_ > begin;
      }
      const uint64_t before = value;
      value = value * 10 + static_cast<uint64_t>(*at_ - '0');
      if (before > value) {
        warn("Overflow while reading a uint64 value {}.", place());
        return false;
      }
    }
    warn_of_end("a uint64 value");
    return false;
  }

  // Digits as a sum of powers of ten in f64, which is how CNTK has them; at least one.
  bool digits(double& sum, double& scale) {
    const char* const begin = at_;
    sum = 0;
    scale = 1;
    for (; at_ < end_ && is_digit(*at_); ++at_, scale *= 10) sum = sum * 10 + (*at_ - '0');
    return at_ > begin;
  }

  // Whether the bytes are over within a number, which is told.
  bool is_over() {
    if (at_ < end_) return false;
    warn_of_end("an input row", ". Possibly, a trailing newline is missing");
    return true;
  }

  bool number(double& value) {
    if (is_over()) return false;
    const bool is_signed = *at_ == '-' || *at_ == '+';
    const double sign = *at_ == '-' ? -1 : 1;
    double scale;
    at_ += is_signed;
    if (is_signed && is_over()) return false;
    if (!digits(value, scale)) {
      if (is_signed) {
        warn("A sign symbol is followed by an invalid character('{}') {}.", *at_, place());
      } else {
        warn("Unexpected character ('{}') in a floating point value {}.", *at_, place());
      }
      return false;
    }
    bool may_have_exponent = true;
    if (!is_over() && *at_ == '.') {
      ++at_;
      double fraction;
      may_have_exponent = digits(fraction, scale);
      value += fraction / scale;
      is_over();
    }
    value *= sign;
    if (at_ == end_ || !may_have_exponent || (*at_ != 'e' && *at_ != 'E')) return true;
    return exponent(value);
  }

  bool exponent(double& value) {
    ++at_;
    if (is_over()) return false;
    const bool is_signed = *at_ == '-' || *at_ == '+';
    const double sign = *at_ == '-' ? -1 : 1;
    at_ += is_signed;
    if (is_signed && is_over()) return false;
    double power;
    double scale;
    if (!digits(power, scale)) {
      warn("An exponent symbol is followed by an invalid character('{}') {}.", *at_, place());
      return false;
    }
    is_over();
    value *= std::pow(10.0, sign * power);
    return true;
  }

  std::string place() const {
    return fmt::format("at offset {} in the input file ({})",
                       offset_ + static_cast<uint64_t>(at_ - text_.data()), name_);
  }

  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    ++report_.warnings;
    if (report_.problems.size() < report_.kept) {
      report_.add(static_cast<uint64_t>(at_ - text_.data()),
                  "WARNING: " + fmt::format(format, std::forward<Args>(args)...));
    }
  }
  void warn_of_end(const char* what, const char* rest = "") {
    warn("Exhausted all input expected for the current sequence while reading {} {}{}.", what,
         place(), rest);
  }

  const CtfRules& rules_;
  std::string_view text_;
  uint64_t offset_;
  std::string_view name_;
  SampleTable& table_;
  CtfReport& report_;
  size_t longest_field_ = 0;
  const char* at_ = nullptr;
  const char* end_ = nullptr;  // of the sequence
  uint64_t id_ = 0;
};

}  // namespace

void parse_ctf_compat(const CtfRules& rules, CtfMode mode, std::string_view text,
                      const CtfOrigin& origin, SampleTable& table, CtfReport& report,
                      Column<uint32_t>& lines) {
  Parser parser(rules, text, origin.offset, origin.name, table, report);
  CtfScanner scanner(rules, mode, origin.line);
  scanner.scan(text, 0, true, [&](const CtfSequence& sequence) {
    lines.push_back(static_cast<uint32_t>(sequence.line - origin.line));
    parser.add_sequence(sequence);
  });
}

}  // namespace thalweg::data
