#include <algorithm>

#include "base/fail.h"
#include "data/formats/base64.h"
#include "data/formats/key_column.h"
#include "data/formats/numbers.h"
#include "data/image/image_store.h"

namespace thalweg::data {
namespace {

constexpr size_t kPiece = size_t{1} << 20;
constexpr size_t kMaxRow = size_t{256} << 20;

class Base64Images final : public ImageStore {
 public:
  Base64Images(std::unique_ptr<ByteSource> source, const ImageOptions& options)
      : source_(std::move(source)), classes_(options.classes) {
    index();
    if (items_.empty()) fail_io("image: the file lists no picture; {}", name());
  }

  std::string name() const override { return source_->name(); }
  int64_t size() const override { return static_cast<int64_t>(items_.size()); }
  int64_t label(int64_t item) const override { return at(item).label; }
  KeyKind key_kind() const override { return keys_.kind(); }
  SequenceKey key(int64_t item) const override { return keys_[item]; }
  std::string where(int64_t item) const override {
    return fmt::format("{}:{}", name(), at(item).line);
  }

  std::string read(int64_t item) const override {
    const Item& it = at(item);
    std::string text(it.bytes, '\0');
    source_->read_at(it.offset, std::as_writable_bytes(std::span(text)));
    auto bytes = decode_base64(text);
    if (!bytes) {
      fail_io("image: not base64; {}: expected letters, digits, '+' and '/' in fours", where(item));
    }
    return std::move(*bytes);
  }

 private:
  struct Item {
    uint64_t offset = 0;  // of the base64 text
    size_t bytes = 0;
    int64_t label = 0;
    int64_t line = 0;
  };

  const Item& at(int64_t item) const { return items_[static_cast<size_t>(item)]; }

  // Finds the rows without keeping the pictures.
  void index() {
    uint64_t offset = start_of_text("image", *source_);
    std::string text;
    bool is_last = false;
    for (int64_t line = 1; !is_last || !text.empty();) {
      size_t at = 0;
      for (size_t end;
           (end = text.find('\n', at)) != std::string::npos || (is_last && at < text.size());
           ++line) {
        end = std::min(end, text.size());
        add(std::string_view(text).substr(at, end - at), offset + at, line);
        at = std::min(end + 1, text.size());
      }
      offset += at;
      text.erase(0, at);
      if (text.size() > kMaxRow)
        fail_io("image: a row is longer than {} bytes; {}:{}", kMaxRow, name(), line);
      const size_t have = text.size();
      const uint64_t left = source_->max_size() - std::min(source_->max_size(), offset + have);
      const auto piece = static_cast<size_t>(std::min<uint64_t>(std::max(kPiece, have), left));
      text.resize(have + piece);
      const size_t found = source_->read_some_at(
          offset + have, std::as_writable_bytes(std::span(text).subspan(have)));
      text.resize(have + found);
      is_last = found < piece || found == left;
    }
  }

  void add(std::string_view row, uint64_t offset, int64_t line) {
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (trimmed(row).empty()) return;
    const std::string where = fmt::format("{}:{}", name(), line);
    const size_t last = row.rfind('\t');
    if (last == std::string_view::npos || std::ranges::count(row, '\t') > 2) {
      fail_io(
          "image: malformed row; {}: expected 'label TAB base64' or 'key TAB label TAB base64', "
          "found '{}'",
          where, shortened(row));
    }
    std::string_view label = row.substr(0, last);
    const size_t first = label.find('\t');
    const bool has_key = first != std::string_view::npos;
    if (!items_.empty() && has_key == keys_.empty())
      fail_io("image: some rows have a key and some have none; {}", where);
    if (has_key) keys_.push_back(label.substr(0, first));
    if (has_key) label.remove_prefix(first + 1);
    items_.push_back(
        {offset + last + 1, row.size() - last - 1, parse_label(label, classes_, where), line});
  }

  std::unique_ptr<ByteSource> source_;
  int64_t classes_;
  std::vector<Item> items_;
  KeyColumn keys_;
};

}  // namespace

std::unique_ptr<ImageStore> open_base64_images(std::unique_ptr<ByteSource> source,
                                               const ImageOptions& options) {
  return std::make_unique<Base64Images>(std::move(source), options);
}

}  // namespace thalweg::data
