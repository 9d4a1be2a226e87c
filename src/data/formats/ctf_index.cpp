#include "data/formats/ctf_index.h"

#include <algorithm>
#include <cctype>

#include "base/fail.h"
#include "data/formats/ctf_index_file.h"

namespace thalweg::data {
namespace {

constexpr size_t kStep = 1 << 20;  // bytes read at a time

// Where rows begin. In compat mode a part of a byte-order mark is passed over, too, and what
// isspace() knows.
uint64_t rows_begin(const CtfRules& rules, const ByteSource& source) {
  const uint64_t begin = start_of_text("ctf", source);
  if (!rules.compat) return begin;
  std::byte start[64];
  const std::string_view mark = "\xEF\xBB\xBF";
  const std::string_view head = as_text(Bytes(start, source.read_some_at(0, start)));
  uint64_t at = 0;
  while (at < mark.size() && at < head.size() && head[at] == mark[at]) ++at;
  std::byte byte[1];
  while (source.read_some_at(at, byte) == 1 && std::isspace(static_cast<int>(byte[0])) != 0) ++at;
  return at;
}

}  // namespace

void CtfRange::append(const CtfRange& next) {
  if (sequences == 0) {
    *this = next;
    return;
  }
  size = next.offset + next.size - offset;
  sequences += next.sequences;
  rows += next.rows;
}

size_t ctf_cost(const CtfRules& rules, const CtfRange& range) {
  size_t dense = 0;     // bytes of all dense values
  size_t per_text = 0;  // four times the bytes that a byte of text becomes, at most
  size_t sparse_streams = 0;
  for (const CtfStream& stream : rules.streams) {
    const size_t item = stream.dtype == DType::f64 ? 8 : 4;
    size_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<size_t>(stream.dim) * item, range.rows, &bytes))
      bytes = SIZE_MAX / 64;
    sparse_streams += stream.sparse;
    if (!stream.sparse) dense += std::min(bytes, SIZE_MAX / 64);
    // A dense value takes two bytes at least, a sparse one, which has a column, four.
    per_text = std::max(per_text, stream.sparse ? item + 4 : 2 * item);
  }
  const size_t by_text = range.size * per_text / 4;
  const bool may_be_short = rules.compat;  // where the text does not have all values
  size_t values = by_text;
  if (sparse_streams == 0) values = may_be_short ? dense : std::min(dense, by_text);
  if (sparse_streams > 0 && may_be_short) values = dense + by_text;
  return values + sparse_streams * 8 * (size_t{range.rows} + 1) +
         (rules.streams.size() + 2) * 4 * (size_t{range.sequences} + 1);
}

CtfIndex::CtfIndex(std::shared_ptr<const ByteSource> source, const CtfRules& rules,
                   const FileStamp& stamp, const CtfIndexOptions& options)
    : path_(source->name()),
      rules_(rules),
      stamp_(stamp),
      options_(options),
      source_(std::move(source)),
      scanner_(rules) {
  if (auto kept = read_ctf_index(path_, rules, stamp, options)) {
    data_ = *std::move(kept);
    is_complete_ = true;
  }
}

bool CtfIndex::extend() {
  if (is_complete_) return false;
  if (text_offset_ == kNotBegun) text_offset_ = rows_begin(rules_, *source_);
  const size_t left = text_.size();
  const size_t step = std::max(kStep, left);
  text_.resize(left + step);
  const size_t read = source_->read_some_at(
      text_offset_ + left, std::as_writable_bytes(std::span(text_.data() + left, step)));
  text_.resize(left + read);
  try {
    const size_t used = scanner_.scan(text_, text_offset_, read < step,
                                      [this](const CtfSequence& sequence) { add(sequence); });
    text_.erase(0, used);
    text_offset_ += used;
  } catch (Error& error) {
    error.set_place(path_);
    throw;
  }
  if (read < step) finish();
  return true;
}

void CtfIndex::add(const CtfSequence& sequence) {
  CtfRange grown = block_;
  grown.append({sequence.offset, sequence.size, sequence.line, sequences_, 1, sequence.rows});
  if (block_.sequences > 0 &&
      (grown.size > options_.block_bytes || ctf_cost(rules_, grown) > options_.block_cost)) {
    end_block();
    grown = {sequence.offset, sequence.size, sequence.line, sequences_, 1, sequence.rows};
  }
  block_ = grown;
  ++sequences_;
}

void CtfIndex::end_block() {
  if (block_.sequences > 0) data_.blocks.push_back(block_);
  block_ = {};
}

void CtfIndex::finish() {
  end_block();
  if (sequences_ == 0) {
    fail_io("ctf: the file holds no rows but blank ones and remarks; {}", path_);
  }
  data_.mode = scanner_.mode();
  is_complete_ = true;
  source_.reset();
  text_ = {};
  write_ctf_index(path_, rules_, stamp_, options_, data_);
}

}  // namespace thalweg::data
