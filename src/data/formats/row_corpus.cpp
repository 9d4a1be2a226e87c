#include "data/formats/row_corpus.h"

#include <algorithm>

#include "base/fail.h"

namespace thalweg::data {
namespace {

constexpr size_t kDefaultLimit = size_t{32} << 20;
constexpr size_t kWindow = size_t{1} << 20;
constexpr size_t kMaxRow = size_t{256} << 20;

std::string_view without_line_end(std::string_view row) {
  if (row.ends_with('\n')) row.remove_suffix(1);
  if (row.ends_with('\r')) row.remove_suffix(1);
  return row;
}

}  // namespace

size_t RowFormat::row_end(std::string_view text, size_t at) const {
  const size_t end = text.find('\n', at);
  return end == std::string_view::npos ? end : end + 1;
}

SequenceKey RowFormat::key(const Row&, const std::string&) const { return uint64_t{0}; }

RowCorpus::RowCorpus(std::unique_ptr<ByteSource> source, std::unique_ptr<RowFormat> format,
                     Start start, int64_t max_errors)
    : source_(std::move(source)),
      format_(std::move(format)),
      start_(start),
      limit_(kDefaultLimit),
      log_(max_errors),
      window_offset_(start.offset),
      line_(start.line) {}

void RowCorpus::limit_chunks(size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes == limit_) return;
  limit_ = bytes;
  places_.clear();
  go_to(start_.offset, start_.line);
  is_complete_ = false;
}

std::string_view RowCorpus::content(std::string_view row) const {
  return format_->has_lines() ? without_line_end(row) : row;
}

int64_t RowCorpus::lines(std::string_view row) const {
  return format_->has_lines() ? std::max<int64_t>(1, std::ranges::count(row, '\n')) : 1;
}

// False at the end of the data.
bool RowCorpus::read_more() const {
  if (is_last_window_) return false;
  window_offset_ += at_;
  next_ -= at_;
  window_.erase(0, at_);
  at_ = 0;
  const size_t have = window_.size();
  if (have > kMaxRow) {
    fail_io("{}: a row is longer than {} bytes; {}:{}; is a quote open, or is it another format?",
            format_->operation(), kMaxRow, name(), line_);
  }
  const uint64_t left = source_->max_size() - std::min(source_->max_size(), window_offset_ + have);
  const auto piece = static_cast<size_t>(std::min<uint64_t>(std::max(kWindow, have), left));
  window_.resize(have + piece);
  const size_t found = source_->read_some_at(
      window_offset_ + have, std::as_writable_bytes(std::span(window_).subspan(have)));
  window_.resize(have + found);
  is_last_window_ = found < piece || found == left;
  return found > 0;
}

// The next row, left where it is.
bool RowCorpus::peek_row(Row& row) const {
  for (;;) {
    const size_t end = format_->row_end(window_, at_);
    next_ = end;
    if (end != std::string_view::npos) break;
    next_ = window_.size();
    if (!read_more() && is_last_window_) {
      next_ = window_.size();
      if (at_ == window_.size()) return false;
      break;
    }
  }
  row = {content(std::string_view(window_).substr(at_, next_ - at_)), line_, window_offset_ + at_};
  return true;
}

void RowCorpus::take_row() const {
  line_ += lines(std::string_view(window_).substr(at_, next_ - at_));
  at_ = next_;
}

size_t RowCorpus::cost(const Place& place, size_t more_bytes) const {
  constexpr size_t kPerRow = 24;  // what TableChunk keeps besides
  const size_t text = place.bytes + more_bytes;
  return text + format_->loaded_bytes(place.rows + 1, text) + kPerRow * (place.rows + 1);
}

void RowCorpus::go_to(uint64_t offset, int64_t line) const {
  window_offset_ = offset;
  line_ = line;
  window_.clear();
  at_ = next_ = 0;
  is_last_window_ = false;
}

// Finds the next chunk. False if there is none.
bool RowCorpus::scan_chunk() const {
  Place place{window_offset_ + at_, 0, line_, line_, 0, 0, {}};
  Place without_last;
  const bool has_keys = format_->key_kind() != KeyKind::position;
  Row row;
  while (peek_row(row)) {
    const size_t row_bytes = next_ - at_;
    if (format_->is_sample(row.text)) {
      SequenceKey key = has_keys ? format_->key(row, name()) : SequenceKey{};
      const bool begins = !has_keys || place.keys.empty() || place.keys.back() != key;
      if (place.rows > 0 && cost(place, row_bytes) > limit_) {
        if (begins) break;
        if (place.sequences > 1) {  // the sequence goes to the next chunk as a whole
          go_to(without_last.offset + without_last.bytes, without_last.end_line);
          place = std::move(without_last);
          break;
        }
      }
      if (begins) {
        without_last = place;
        ++place.sequences;
        if (has_keys) place.keys.push_back(std::move(key));
      }
      ++place.rows;
    }
    place.bytes += row_bytes;
    take_row();
    place.end_line = line_;
  }
  if (place.rows == 0) return false;
  places_.push_back(std::move(place));
  return true;
}

bool RowCorpus::scan_to(int64_t chunk) const {
  while (static_cast<int64_t>(places_.size()) <= chunk && !is_complete_)
    is_complete_ = !scan_chunk();
  if (places_.empty())
    fail_io("{}: the file has no samples; {}{}", format_->operation(), name(), format_->no_rows());
  return chunk < static_cast<int64_t>(places_.size());
}

bool RowCorpus::has_chunk(int64_t chunk) const {
  const std::lock_guard lock(mutex_);
  return scan_to(chunk);
}

int64_t RowCorpus::chunks() const {
  const std::lock_guard lock(mutex_);
  scan_to(INT64_MAX);
  return static_cast<int64_t>(places_.size());
}

RowCorpus::Place RowCorpus::place_of(int64_t chunk) const {
  const std::lock_guard lock(mutex_);
  THALWEG_ASSERT(scan_to(chunk));
  const Place& place = places_[static_cast<size_t>(chunk)];
  return {place.offset, place.bytes, place.line, place.end_line, place.rows, place.sequences, {}};
}

ChunkInfo RowCorpus::chunk(int64_t chunk) const {
  Place place = place_of(chunk);
  --place.rows;  // cost() is that of one more
  return {place.sequences, cost(place, 0) - place.bytes, place.bytes};
}

SequenceKey RowCorpus::key(int64_t chunk, int64_t sequence) const {
  const std::lock_guard lock(mutex_);
  THALWEG_ASSERT(scan_to(chunk));
  return places_[static_cast<size_t>(chunk)].keys[static_cast<size_t>(sequence)];
}

std::shared_ptr<const Chunk> RowCorpus::load(int64_t chunk, const Wanted& wanted) const {
  const Place place = place_of(chunk);
  std::string text(place.bytes, '\0');
  source_->read_at(place.offset, std::as_writable_bytes(std::span(text)));
  auto table = std::make_shared<TableChunk>(name(), streams(), place.rows, format_->is_ragged());
  const bool has_keys = format_->key_kind() != KeyKind::position;
  SequenceKey last_key;
  int64_t line = place.line;
  int64_t sequence = -1;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(format_->row_end(text, at), text.size());
    const std::string_view whole = std::string_view(text).substr(at, end - at);
    const Row row{content(whole), line, place.offset + at};
    line += lines(whole);
    at = end;
    if (!format_->is_sample(row.text)) continue;
    SequenceKey key = has_keys ? format_->key(row, name()) : SequenceKey{};
    TableChunk::RowEnd row_end{row.line, !has_keys || sequence < 0 || key != last_key};
    last_key = std::move(key);
    if (row_end.begins_sequence) ++sequence;
    const bool is_wanted = wanted.empty() || wanted[static_cast<size_t>(sequence)];
    if (is_wanted || format_->is_ragged()) {  // which tells lengths
      try {
        format_->parse(row, name(), *table);
      } catch (const Error& error) {
        log_.drop(row.offset, error.what());
        row_end.is_bad = true;
      }
    }
    table->end_row(row_end);
  }
  return table;
}

}  // namespace thalweg::data
