#include "data/formats/ctf_file.h"

#include <algorithm>

#include <fmt/format.h>

#include <thalweg/base/log.h>

#include "base/fail.h"
#include "data/formats/ctf_compat.h"
#include "data/formats/decimal.h"
#include "data/pages.h"

namespace thalweg::data {
namespace {

constexpr uint64_t kWorthKeeping = 8 << 20;  // bytes of a file that is indexed in no time

// Line feeds before `offset`.
uint64_t count_lines(const ByteSource& source, uint64_t offset) {
  std::vector<std::byte> piece(1 << 20);
  uint64_t lines = 0;
  for (uint64_t at = 0; at < offset; at += piece.size()) {
    const auto part = std::span(piece).first(std::min<uint64_t>(piece.size(), offset - at));
    source.read_at(at, part);
    lines += static_cast<uint64_t>(std::ranges::count(part, std::byte{'\n'}));
  }
  return lines;
}

class CtfChunk final : public Chunk {
 public:
  CtfChunk(std::string path, uint64_t line) : path_(std::move(path)), line_(line) {}

  size_t bytes() const override { return sizeof(*this) + table_.bytes() + lines_.bytes(); }
  int64_t length(int64_t sequence) const override { return table_.length(sequence); }
  StreamValues read(int64_t sequence, size_t stream, const SequenceDraw&) const override {
    return table_.read(sequence, stream);
  }
  std::string where(int64_t sequence) const override {
    return fmt::format("{}:{}", path_, line_ + lines_[static_cast<size_t>(sequence)] + 1);
  }

  SampleTable table_;
  Column<uint32_t> lines_;

 private:
  std::string path_;
  uint64_t line_;  // of the first row
};

// Room for `values`, all of which are going to be written to if so many `are_known`.
template <typename T>
void reserve(Column<T>& column, size_t values, bool are_known) {
  T* const room = column.room(values);
  if (are_known) find_pages(room, values * sizeof(T));
}

// Values that all samples of a dense stream have; as many as there can be, if they are more.
size_t dense_values(const CtfRange& range, const CtfStream& stream) {
  size_t values = 0;
  const bool overflows =
      __builtin_mul_overflow(static_cast<size_t>(stream.dim), range.rows, &values);
  return overflows ? SIZE_MAX / 64 : std::min(values, SIZE_MAX / 64);
}

// Room for what the text may become, so that nothing moves while it grows. Pages that are not
// written to take no memory. A dense value takes two bytes of text at least, a sparse one four.
void reserve(const CtfRange& range, const CtfStream& stream, size_t dense_text,
             StreamColumns& columns) {
  const size_t wanted = dense_values(range, stream);
  const bool is_known = !stream.sparse && wanted <= range.size / 2 + 1;
  size_t values = std::min(wanted, range.size / 2 + 1);
  if (stream.sparse) values = (range.size - std::min<size_t>(range.size, dense_text)) / 4 + 1;
  if (stream.dtype == DType::f32) {
    reserve(columns.values<float>(), values, is_known);
  } else {
    reserve(columns.values<double>(), values, is_known);
  }
  if (stream.sparse) columns.columns().room(values);
}

}  // namespace

CtfFile::CtfFile(const std::string& path, const CtfRules& rules, const CtfOptions& options)
    : rules_(rules), options_(options), path_(path), stamp_(stamp_of(path)) {}

std::shared_ptr<const ByteSource> CtfFile::source() const {
  if (packed_ != nullptr) return packed_;
  if (stamp_of(path_) != stamp_)
    fail_io("ctf: the file changed while it was being read; {}", path_);
  return open_source(path_);
}

bool CtfFile::has_chunk(size_t chunk) {
  if (index_ == nullptr) {
    const bool is_large = stamp_.size >= kWorthKeeping;
    CtfIndexOptions options;
    options.keep =
        options_.index == IndexFile::always || (options_.index == IndexFile::automatic && is_large);
    options.folder = options_.index_folder;
    // CNTK's chunks are cut at any sequence; others at blocks, so that one index serves all limits.
    constexpr size_t kBlock = 64 << 10;
    const size_t chunk_bytes = std::min(limits_.chunk_bytes, limits_.chunk_cost / 2);
    options.block_bytes = rules_.compat ? limits_.chunk_bytes : std::min(kBlock, chunk_bytes / 16);
    if (rules_.compat) options.block_cost = limits_.chunk_cost;
    if (options_.single_sequences) options.block_bytes = 1;
    const std::shared_ptr<const ByteSource> opened = source();
    if (opened->max_size() != stamp_.size) packed_ = opened;
    options.text_size = opened->max_size();
    index_ = std::make_unique<CtfIndex>(opened, rules_, stamp_, options);
    add_blocks();
  }
  while (chunks_.size() <= chunk && index_->extend()) add_blocks();
  return chunk < chunks_.size();
}

size_t CtfFile::chunks() {
  has_chunk(SIZE_MAX - 1);
  return chunks_.size();
}

void CtfFile::add_blocks() {
  for (const std::vector<CtfRange>& blocks = index_->data().blocks; blocks_ < blocks.size();
       ++blocks_) {
    CtfRange grown = open_;
    grown.append(blocks[blocks_]);
    const size_t cost = ctf_cost(rules_, grown) + grown.size + kDecimalPadding;
    if (open_.sequences > 0 && (grown.size > limits_.chunk_bytes || cost > limits_.chunk_cost)) {
      chunks_.push_back(open_);
      grown = blocks[blocks_];
    }
    open_ = grown;
  }
  if (!index_->is_complete() || open_.sequences == 0) return;
  chunks_.push_back(open_);
  open_ = {};
}

std::vector<CtfRange> CtfFile::sequences_of(const CtfRange& chunk) const {
  if (!loads_parts()) return {};
  const auto first = index_->data().blocks.begin() + static_cast<ptrdiff_t>(chunk.sequence);
  return {first, first + chunk.sequences};
}

// The wanted sequences to where they are in the chunk's text.
void CtfFile::read_parts(const ByteSource& from, const CtfPlace& place,
                         const std::vector<bool>& wanted, char* text) {
  constexpr uint64_t kGap = 4096;  // cheaper to read than to pass over
  uint64_t begin = 0, end = 0;
  const auto read = [&] {
    if (end > begin)
      from.read_at(begin, std::as_writable_bytes(
                              std::span(text + (begin - place.range.offset), end - begin)));
  };
  for (size_t i = 0; i < place.sequences.size(); ++i) {
    if (i >= wanted.size() || !wanted[i]) continue;
    const CtfRange& sequence = place.sequences[i];
    if (sequence.offset > end + kGap) {
      read();
      begin = sequence.offset;
    }
    if (end == 0) begin = sequence.offset;
    end = sequence.offset + sequence.size;
  }
  read();
}

void CtfFile::check_count(const CtfPlace& place, uint64_t found) const {
  const CtfRange& range = place.range;
  if (found == range.sequences) return;
  fail_io("{}: the index is of other data; expected {} sequences from byte {} to {}, found {}",
          path_, range.sequences, range.offset, range.offset + range.size, found);
}

std::vector<uint64_t> CtfFile::keys(const CtfPlace& place) const {
  const PageBuffer buffer(place.range.size);
  source()->read_at(place.range.offset,
                    std::as_writable_bytes(std::span(buffer.get(), place.range.size)));
  std::vector<uint64_t> keys;
  CtfScanner scanner(rules_, place.mode);
  scanner.scan({buffer.get(), place.range.size}, 0, true,
               [&](const CtfSequence& sequence) { keys.push_back(sequence.key); });
  check_count(place, keys.size());
  return keys;
}

std::shared_ptr<const Chunk> CtfFile::load(const CtfPlace& place, const std::vector<bool>& wanted,
                                           ReadProblems& problems, std::mutex& problems_mutex) {
  const CtfRange& range = place.range;
  const size_t padded = range.size + kDecimalPadding;
  const PageBuffer buffer(padded);
  std::fill(buffer.get() + range.size, buffer.get() + padded, '\n');
  const std::shared_ptr<const ByteSource> from = source();
  if (place.sequences.empty())
    from->read_at(range.offset, std::as_writable_bytes(std::span(buffer.get(), range.size)));
  else
    read_parts(*from, place, wanted, buffer.get());
  const std::string_view text(buffer.get(), range.size);
  // CNTK's indexes do not know lines.
  const uint64_t line = place.has_line ? range.line : count_lines(*from, range.offset);
  const Rows rows{place, text, line};
  const auto chunk = std::make_shared<CtfChunk>(path_, line);
  CtfReport report;
  std::exception_ptr failure;
  try {
    parse(rows, wanted, chunk->table_, chunk->lines_, report);
  } catch (const Error&) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard lock(problems_mutex);
    judge(rows, report, problems);
  }
  if (failure) std::rethrow_exception(failure);
  check_count(place, static_cast<uint64_t>(chunk->table_.sequences()));
  chunk->table_.shrink();
  chunk->lines_.shrink();
  return chunk;
}

void CtfFile::parse(const Rows& rows, const std::vector<bool>& wanted, SampleTable& table,
                    Column<uint32_t>& lines, CtfReport& report) {
  const CtfRange& range = rows.place.range;
  size_t dense_text = 0;
  for (const CtfStream& stream : rules_.streams)
    dense_text += stream.sparse ? 0 : 2 * std::min(dense_values(range, stream), range.size);
  for (const CtfStream& stream : rules_.streams) {
    table.streams().emplace_back(stream.dim, stream.sparse, stream.dtype);
    if (wanted.empty()) reserve(range, stream, dense_text, table.streams().back());
  }
  if (rules_.compat) {
    parse_ctf_compat(rules_, rows.place.mode, rows.text,
                     {path_, rows.place.range.offset, rows.line}, table, report, lines);
  } else {
    std::vector<CtfSequence> known;
    for (const CtfRange& sequence : rows.place.sequences)
      known.push_back({0, sequence.offset - rows.place.range.offset, sequence.size,
                       sequence.line - rows.line, sequence.rows});
    // What is dropped has to be known to all who share the data, not only to who wants it.
    parse_ctf(rules_, rows.place.mode, rows.text, {wanted, options_.max_errors > 0, known}, table,
              report, lines);
  }
}

void CtfFile::judge(const Rows& rows, const CtfReport& report, ReadProblems& problems) {
  if (report.errors == 0 && report.warnings == 0) return;
  if (judged_.insert(rows.place.range.offset).second) {
    for (const CtfProblem& problem : report.problems) {
      if (problems.messages.size() >= report.kept) break;
      problems.messages.push_back(told(rows, problem));
      log(LogLevel::warn, problems.messages.back());
    }
    problems.errors += report.errors;
    problems.warnings += report.warnings;
    errors_ += report.errors;
  }
  if (report.errors == 0 || errors_ <= options_.max_errors) return;
  const std::string first = report.problems.empty() ? "" : told(rows, report.problems.front());
  if (rules_.compat) {
    fail_io("Reached the maximum number of allowed errors while reading the input file ({}). {}",
            path_, first);
  }
  if (options_.max_errors == 0) fail_io("{}", first);
  fail_io("{}; max_errors allows {} bad records, found {}", first, options_.max_errors, errors_);
}

std::string CtfFile::told(const Rows& rows, const CtfProblem& problem) const {
  if (rules_.compat) return problem.text;
  uint64_t start = 0, line = rows.line;
  for (const CtfRange& sequence : rows.place.sequences) {  // text is there for some of them alone
    if (sequence.offset - rows.place.range.offset > problem.offset) break;
    start = sequence.offset - rows.place.range.offset;
    line = sequence.line;
  }
  const std::string_view before = rows.text.substr(start, problem.offset - start);
  line += static_cast<uint64_t>(std::ranges::count(before, '\n'));
  const size_t row = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("{}:{}:{}: {}", path_, line + 1, before.size() - row + 1, problem.text);
}

}  // namespace thalweg::data
