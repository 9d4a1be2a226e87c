#include "data/formats/ctf_parser.h"

#include <algorithm>

#include <fmt/format.h>

#include "data/formats/ctf_scanner.h"
#include "data/formats/ctf_wording.h"
#include "data/formats/decimal.h"
#include "data/formats/plain_values.h"
#include "data/formats/sort_columns.h"

namespace thalweg::data {
namespace {

using ctf::is_blank;
using ctf::is_digit;

bool ends_row(const char* at) { return *at == '\n' || (*at == '\r' && at[1] == '\n'); }
bool ends_sample(const char* at) { return *at == '|' || ends_row(at); }

const char* skip_blanks(const char* at) {
  while (is_blank(*at)) ++at;
  return at;
}

// Functions that go through text return where they end, or null after they told what is wrong.
class Parser {
 public:
  Parser(const CtfRules& rules, CtfMode mode, std::string_view text, SampleTable& table,
         CtfReport& report)
      : rules_(rules),
        mode_(mode),
        begin_(text.data()),
        end_(begin_ + text.size()),
        table_(table),
        report_(report),
        counts_(rules.streams.size()),
        last_rows_(rules.streams.size(), -1) {}

  void add_sequence(const CtfSequence& sequence, bool is_wanted) {
    const int64_t errors = report_.errors;
    int64_t rows = 0;
    const char* at = begin_ + sequence.offset;
    for (const char* const end = at + sequence.size; at < end;) {
      has_sample_ = false;
      const char* next = row(at);
      rows += has_sample_;
      if (next == nullptr) next = row_end(at) + 1;
      at = next;
    }
    const bool is_good = report_.errors == errors && is_complete(sequence, rows);
    if (is_good && is_wanted) {
      table_.end_sequence(length());
    } else {
      table_.drop_sequence(is_good ? length() : Chunk::kDropped);
    }
  }

  /// One whose text is not there, and that is as long as it has rows.
  void pass_over(const CtfSequence& sequence) {
    table_.drop_sequence(static_cast<int64_t>(sequence.rows));
  }

  /// Only as far as the length of a good sequence asks for.
  void skip_sequence(const CtfSequence& sequence) {
    std::ranges::fill(counts_, 0);
    const char* at = begin_ + sequence.offset;
    const char* const end = at + sequence.size;
    while ((at = find('|', at, end)) < end) {
      const char* const name = ++at;
      while (!is_blank(*at) && !ends_sample(at)) ++at;
      const int stream = rules_.find({name, static_cast<size_t>(at - name)});
      if (stream >= 0) ++counts_[static_cast<size_t>(stream)];
    }
    table_.drop_sequence(length());
  }

 private:
  const char* find(char what, const char* from, const char* to) const {
    const auto* found =
        static_cast<const char*>(std::memchr(from, what, static_cast<size_t>(to - from)));
    return found == nullptr ? to : found;
  }
  const char* row_end(const char* at) const { return find('\n', at, end_); }

  const char* row(const char* at) {
    ++row_;
    if (is_digit(*at)) {
      const char* const id = at;
      while (is_digit(*at)) ++at;
      if (mode_ == CtfMode::lines && !rules_.skip_sequence_ids)
        return unexpected(id, -1, "no sequence id, as the first row has none");
      if (!is_blank(*at) && !ends_sample(at))
        return unexpected(id, -1, "a sequence id, then a blank or '|'");
    }
    while (at != nullptr) {
      at = skip_blanks(at);
      if (ends_row(at)) return at + (*at == '\r') + 1;
      if (*at != '|') return unexpected(at, -1, "'|' and a field's name");
      at = column(at + 1);
    }
    return nullptr;
  }

  // A sample, or what is passed over.
  const char* column(const char* at) {
    if (*at == '#') return find('|', at, row_end(at));
    const char* const name = at;
    while (static_cast<unsigned char>(*at) > ' ' && *at != '|') ++at;
    if (at == name) return unexpected(name, -1, "a field's name after '|'");
    const int stream = rules_.find({name, static_cast<size_t>(at - name)});
    if (stream < 0) return find('|', at, row_end(at));
    if (!is_blank(*at) && !ends_sample(at))
      return unexpected(name, stream, "a field's name, then a blank");
    has_sample_ = true;
    if (last_rows_[static_cast<size_t>(stream)] == row_ &&
        (rules_.counting < 0 || rules_.counting == stream)) {
      return wrong(name, stream, "expected one sample in a row, found a second one");
    }
    last_rows_[static_cast<size_t>(stream)] = row_;
    StreamColumns& columns = table_.streams()[static_cast<size_t>(stream)];
    const bool is_f32 = columns.dtype() == DType::f32;
    if (columns.is_sparse()) {
      at = is_f32 ? sparse<float>(at, stream, columns) : sparse<double>(at, stream, columns);
    } else {
      at = is_f32 ? dense<float>(at, stream, columns) : dense<double>(at, stream, columns);
    }
    if (at != nullptr) columns.end_sample();
    return at;
  }

  template <typename T>
  const char* dense(const char* at, int stream, StreamColumns& columns) {
    const auto dim = static_cast<size_t>(columns.dim());
    // A value takes two bytes at least; checked before memory is taken.
    if (dim > static_cast<size_t>(end_ - at) / 2 + 1)
      return wrong_dense(at, skip_blanks(at), 0, stream);
    T* const values = columns.values<T>().room(dim);
    if (const char* const end = parse_plain_values(at, end_, values, dim);
        end != nullptr && ends_sample(end)) {
      columns.values<T>().commit(dim);
      return end;
    }
    // Something is wrong, or lies a little off the beaten track.
    const char* token = at;
    for (size_t i = 0; i < dim; ++i) {
      if (!is_blank(*at)) [[unlikely]]
        return wrong_dense(at, token, i, stream);
      do ++at;
      while (is_blank(*at));
      token = at;
      at = parse_decimal(at, end_, values[i]);
      if (at == nullptr) [[unlikely]]
        return wrong_dense(token, token, i, stream);
    }
    const char* const last = at;
    at = skip_blanks(at);
    if (!ends_sample(at)) return wrong_dense(last, token, dim, stream);
    columns.values<T>().commit(dim);
    return at;
  }

  template <typename T>
  const char* sparse(const char* at, int stream, StreamColumns& columns) {
    const auto dim = static_cast<uint64_t>(columns.dim());
    Column<T>& values = columns.values<T>();
    const size_t first = values.size();
    const char* const sample = skip_blanks(at);
    int64_t previous = -1;
    bool is_sorted = true;
    while (true) {
      const char* const token = skip_blanks(at);
      if (ends_sample(token)) {
        at = token;
        break;
      }
      const uint64_t word = detail::load_digits(token);
      const int n = detail::count_digits(word);
      at = token + n;
      uint64_t index = n == 0 || n == 8 ? 0 : detail::join_digits(word, n);
      if (n == 8) at = long_index(token, index);
      if (n == 0 || *at != ':') return wrong_sparse(token, stream);
      T value;
      at = parse_decimal(at + 1, end_, value);
      if (at == nullptr || (!is_blank(*at) && !ends_sample(at))) return wrong_sparse(token, stream);
      if (index >= dim) return unexpected(token, stream, fmt::format("an index below {}", dim));
      is_sorted &= static_cast<int64_t>(index) > previous;
      previous = static_cast<int64_t>(index);
      values.push_back(value);
      columns.columns().push_back(static_cast<int32_t>(index));
    }
    if (is_sorted) return at;
    const auto twice = sort_columns(columns.columns().data() + first, values.data() + first,
                                    values.size() - first);
    if (!twice) return at;
    return wrong(sample, stream,
                 fmt::format("expected every index once in a sample, found {} twice", *twice));
  }

  // An index of eight digits or more; at most 2^63.
  static const char* long_index(const char* at, uint64_t& index) {
    constexpr uint64_t kMax = uint64_t{1} << 63;
    for (index = 0; is_digit(*at); ++at)
      index = std::min(kMax, index > kMax / 10 ? kMax : index * 10 + uint64_t(*at - '0'));
    return at;
  }

  bool is_complete(const CtfSequence& sequence, int64_t rows) {
    const char* const at = begin_ + sequence.offset;
    for (size_t i = 0; i < counts_.size(); ++i) {
      counts_[i] = static_cast<int64_t>(table_.streams()[i].open_samples());
      if (counts_[i] > 0) continue;
      wrong(at, static_cast<int>(i),
            fmt::format("expected a sample in every sequence, found none{}{}", id_of(sequence),
                        hint_of_field(i)));
      return false;
    }
    if (rules_.counting < 0 && length() < rows) {
      wrong(
          at, -1,
          fmt::format("expected a stream with a sample in every row, found {} rows and at most {} "
                      "samples{}",
                      rows, length(), id_of(sequence)));
      return false;
    }
    return true;
  }

  std::string id_of(const CtfSequence& sequence) const {
    return mode_ == CtfMode::ids ? fmt::format(" in sequence {}", sequence.key) : "";
  }

  std::string hint_of_field(size_t stream) const {
    if (table_.streams()[stream].samples() > 0) return "";
    return fmt::format("; no row so far has the field '{}'", rules_.streams[stream].field);
  }

  int64_t length() const {
    if (rules_.counting >= 0) return counts_[static_cast<size_t>(rules_.counting)];
    return *std::ranges::max_element(counts_);
  }

  // All of these tell what is wrong and return null.
  [[gnu::cold]] const char* wrong(const char* at, int stream, std::string_view text) {
    ++report_.errors;
    if (report_.problems.size() >= report_.kept) return nullptr;
    std::string where;
    if (stream >= 0)
      where = fmt::format("stream '{}': ", rules_.streams[static_cast<size_t>(stream)].name);
    report_.add(static_cast<uint64_t>(at - begin_), where.append(text));
    return nullptr;
  }
  [[gnu::cold]] const char* unexpected(const char* at, int stream, std::string_view expected) {
    return wrong(at, stream, fmt::format("expected {}, found {}", expected, ctf_found(at)));
  }
  [[gnu::cold]] const char* wrong_dense(const char* at, const char* token, size_t values,
                                        int stream) {
    const StreamColumns& columns = table_.streams()[static_cast<size_t>(stream)];
    const CtfWording wording = dense_wording(at, token, values, columns.dim(), columns.dtype());
    return wrong(wording.at, stream, wording.text);
  }
  [[gnu::cold]] const char* wrong_sparse(const char* token, int stream) {
    const CtfWording wording =
        sparse_wording(token, table_.streams()[static_cast<size_t>(stream)].dtype());
    return wrong(wording.at, stream, wording.text);
  }

  const CtfRules& rules_;
  CtfMode mode_;
  const char* begin_;
  const char* end_;
  SampleTable& table_;
  CtfReport& report_;
  std::vector<int64_t> counts_;     // samples of the sequence, for each stream
  std::vector<int64_t> last_rows_;  // in which each stream had a sample
  int64_t row_ = 0;
  bool has_sample_ = false;
};

}  // namespace

void parse_ctf(const CtfRules& rules, CtfMode mode, std::string_view text,
               const CtfSelection& selection, SampleTable& table, CtfReport& report,
               Column<uint32_t>& lines) {
  Parser parser(rules, mode, text, table, report);
  size_t number = 0;
  for (CtfSequence sequence : selection.known) {
    lines.push_back(static_cast<uint32_t>(sequence.line));
    if (number >= selection.wanted.size() || !selection.wanted[number++]) {
      parser.pass_over(sequence);
      continue;
    }
    const char* at = text.data() + sequence.offset;
    while (ctf::is_digit(*at))
      sequence.key = sequence.key * 10 + static_cast<uint64_t>(*at++ - '0');
    parser.add_sequence(sequence, true);
  }
  if (!selection.known.empty()) return;
  CtfScanner scanner(rules, mode);
  scanner.scan(text, 0, true, [&](const CtfSequence& sequence) {
    lines.push_back(static_cast<uint32_t>(sequence.line));
    const std::vector<bool>& wanted = selection.wanted;
    const bool is_wanted = wanted.empty() || (number < wanted.size() && wanted[number]);
    ++number;
    if (is_wanted || selection.checks_all) {
      parser.add_sequence(sequence, is_wanted);
    } else {
      parser.skip_sequence(sequence);
    }
  });
}

}  // namespace thalweg::data
